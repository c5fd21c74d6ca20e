#!/bin/sh
# Measures the working tree and a commit alternately in one session, and reports what changed. Written by `neurolens ci init`.
# Every CI system calls it in the same way, and you can run it by hand.
#
#   sh [[.Script]] base     before run, where an issue is kept: look up the commit that an open issue compares with
#   sh [[.Script]] run      measure, compare, keep the runs; exits with the status of the gate
#   sh [[.Script]] comment  create or update the comment of the pull request ($PR_NUMBER), however run ended
#   sh [[.Script]] issue    open, update or close the issue about the branch
#   sh [[.Script]] key      print the name of the job for caches and artifacts
#
# Exit status of run: 0 no regression; 1 a regression, or a point that the head no longer measures; 3 nothing was compared, because no
# point is ok on the base, or requests failed, or some points are inconclusive (only with STRICT=1); any other: an error, and nothing
# was compared.
# The others call the API of GitHub or GitLab. What they are refused is a warning.
#
# Edit these settings, or set them in the environment, unless the file of your CI system sets them itself.
SWEEP=${SWEEP:-[[.Sweep]]} # the sweep to measure
BENCH_FLAGS=${BENCH_FLAGS---wait} # flags for neurolens bench, such as --until-conclusive; --wait waits for another job on the same machine
FLAGS=${FLAGS---threshold 5%} # flags for neurolens compare; on a busy machine add --metric cpu_user for a command that computes
STRICT=${STRICT:-0} # 1: inconclusive points fail; 0: they are only a warning
HISTORY=${HISTORY:-[[.History]]} # where runs are kept: cache, artifact or s3://BUCKET/PREFIX (the file of the CI system does it), branch, a folder, or none
HISTORY_BRANCH=${HISTORY_BRANCH:-neurolens-history} # the branch for HISTORY=branch
SAVE=${SAVE:-0} # 1: add the runs of this call to the history
BASE=${BASE:-} # the commit to compare with; empty: the previous one
BACKEND=${BACKEND:-all} # a backend of the sweep; all: as in the sweep
PRECISION=${PRECISION:-all} # likewise, a precision
ITERATIONS=${ITERATIONS:-} # iterations of each run; empty: as in the sweep
LABEL=${LABEL:-} # the name of the job, which no other job has; empty: made of what the CI system and these settings say
OUT=${OUT:-neurolens-out} # the folder for all output
set -u

say() { echo "neurolens.sh: $*" >&2; }

warn() {
	say "warning: $*"
	[ -z "${GITHUB_ACTIONS:-}" ] || echo "::warning::$*"
}

# A job has a comment, an issue and a history of its own, which are found by its key. So jobs that differ in anything need different
# labels. A job of GitLab is named by GitLab. GitHub does not tell a script the values of the matrix: the workflow sets LABEL.
[ -n "$LABEL" ] || LABEL=${CI_JOB_NAME:-}
[ -n "$LABEL" ] || LABEL="${GITHUB_WORKFLOW:-} ${GITHUB_JOB:-} ${RUNNER_OS:-$(uname -s)} ${RUNNER_ARCH:-$(uname -m)} \
backend $BACKEND, precision $PRECISION, iterations ${ITERATIONS:-as in the sweep}, $BENCH_FLAGS $FLAGS"
label=$(printf '%s' "$SWEEP, $LABEL" | tr -d '{}[]"' | LC_ALL=C tr -c 'A-Za-z0-9 ,.:;/+=%()_\n-' _ | tr '\n' ' ' | tr -s ' ' | cut -c 1-200)
label=${label% }
label=${label% null} # toJSON of no matrix
key=$(printf '%s' "$SWEEP, $LABEL" | cksum)
key=$(printf '%s' "$label" | tr -cs 'A-Za-z0-9._' - | cut -c 1-80)-${key%% *}
mark="<!-- neurolens $key -->" # the first line of the comment and of the issue

# What an earlier call left in the folder says nothing of this push.
push="$(git rev-parse HEAD 2>/dev/null) ${GITHUB_RUN_ID:-} ${GITHUB_RUN_ATTEMPT:-} ${CI_JOB_ID:-} ${BUILD_TAG:-}"
of_this_push() { [ "$(head -n 1 "$1" 2>/dev/null)" = "$push" ]; }

# The CI system whose API is used: github (gh, GH_TOKEN), gitlab (curl, jq, NEUROLENS_TOKEN), or none. limit is how many bytes a text may
# have there, which takes at least as many characters.
forge=none limit=1000000
if [ -n "${GITHUB_REPOSITORY:-}" ] && [ -n "${GH_TOKEN:-}" ]; then
	forge=github limit=65536
elif [ -n "${CI_API_V4_URL:-}" ] && [ -n "${NEUROLENS_TOKEN:-}" ]; then
	forge=gitlab
	project="projects/$CI_PROJECT_ID"
	# The pipeline of a merge request from a fork runs in the fork; the merge request is one of the target.
	merge_request="projects/${CI_MERGE_REQUEST_PROJECT_ID:-$CI_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID:-}"
fi

# gitlab METHOD PATH [ARGUMENTS of curl...]; the token is not among the arguments, which every user of the machine sees.
gitlab() {
	method=$1 path=$2
	shift 2
	printf 'PRIVATE-TOKEN: %s\n' "$NEUROLENS_TOKEN" | curl -sSf --header @- --request "$method" "$@" "$CI_API_V4_URL/$path"
}

# gitlab_all PATH FILTER prints what the filter of jq makes of the items of all pages.
gitlab_all() {
	page=1
	while :; do
		items=$(gitlab GET "$1&per_page=100&page=$page") || return
		printf '%s\n' "$items" | jq -r "$2" || return
		[ "$(printf '%s\n' "$items" | jq length)" = 100 ] || return 0
		page=$((page + 1))
	done
}

# github_all FIELDS FILTER prints what the filter of jq makes of these fields of the repository, page after page.
github_all() {
	gh api graphql --paginate -f "owner=${GITHUB_REPOSITORY%%/*}" -f "name=${GITHUB_REPOSITORY#*/}" --jq ".data.repository | $2" \
		-f query="query(\$owner: String!, \$name: String!, \$endCursor: String) { repository(owner: \$owner, name: \$name) { $1 } }"
}

# own_comments prints the ids of the comments that have the mark of this job and were written with this token.
own_comments() {
	export MARK="$mark"
	case $forge in
	github)
		github_all "pullRequest(number: $PR_NUMBER) { comments(first: 100, after: \$endCursor) { nodes { id viewerDidAuthor body } pageInfo { hasNextPage endCursor } } }" \
			'.pullRequest.comments.nodes[] | select(.viewerDidAuthor and (.body | startswith(env.MARK))) | .id'
		;;
	gitlab)
		ME=$(gitlab GET user) && ME=$(printf '%s\n' "$ME" | jq .id) || return
		export ME
		gitlab_all "$merge_request/notes?sort=asc" '.[] | select((.author.id | tostring) == env.ME and (.body | startswith(env.MARK))) | .id'
		;;
	esac
}

# open_issues does the same for issues: the number of each and the commit that it compares with.
open_issues() {
	export MARK="$mark"
	good='"\([capture("<!-- good (?<sha>[0-9a-f]+) -->")][0].sha // "")"'
	case $forge in
	github)
		github_all "issues(first: 100, after: \$endCursor, states: OPEN) { nodes { number viewerDidAuthor body } pageInfo { hasNextPage endCursor } }" \
			".issues.nodes[] | select(.viewerDidAuthor and (.body | startswith(env.MARK))) | \"\\(.number) \" + (.body | $good)"
		;;
	gitlab)
		gitlab_all "$project/issues?state=opened&scope=created_by_me&labels=neurolens" \
			".[] | select(.description // \"\" | startswith(env.MARK)) | \"\\(.iid) \" + (.description | $good)"
		;;
	esac
}

# base looks up the commit of the open issue, for run: while an issue is open, pushes are compared with it.
base() {
	mkdir -p "$OUT" && rm -f "$OUT/good"
	[ "$forge" != none ] || return 0
	found=$(open_issues) || return
	# shellcheck disable=SC2086 # number and commit
	set -- $found
	printf '%s\n%s\n' "$push" "${2:-}" >"$OUT/good"
}

# base_commit prints the commit to compare with; nothing for the first commit of a repository.
base_commit() {
	good=
	! of_this_push "$OUT/good" || good=$(sed -n 2p "$OUT/good")
	# A branch that was reset to the commit of its issue has nothing to compare with that.
	[ "$good" != "$(git rev-parse HEAD)" ] || ! git diff --quiet HEAD -- || good=
	for commit in "$good" "$BASE" HEAD~1; do
		case $commit in
		'' | 00000000*) continue ;; # a new branch has no previous commit
		esac
		git rev-parse --verify --quiet "$commit^{commit}" && return
		# The file shallow of git has the commits whose parents were not fetched; a full clone has no such file.
		if git rev-list --max-parents=0 HEAD | grep -qxF -f "$(git rev-parse --git-path shallow)" 2>/dev/null; then
			say "$commit is not in this clone, which is shallow: fetch all commits (fetch-depth: 0; on GitLab GIT_DEPTH: 0)"
			return 2
		fi
		case "$SAVE $commit" in
		*' HEAD~1') ;;
		'1 '*) say "BASE=$commit is not a commit of this clone (the branch was rewritten): the previous commit is used" ;;
		*)
			say "BASE=$commit is not a commit of this clone: fetch it (fetch-depth: 0), or name another one"
			return 2
			;;
		esac
	done
}

# fetch_history puts the branch of the history into a folder.
fetch_history() {
	rm -rf "$OUT/history" && mkdir -p "$OUT/history"
	old=
	if git fetch -q origin "+refs/heads/$HISTORY_BRANCH:refs/remotes/origin/$HISTORY_BRANCH" 2>/dev/null; then
		old=$(git rev-parse "refs/remotes/origin/$HISTORY_BRANCH")
		git archive "$old" | tar -xf - -C "$OUT/history"
	fi
}

# push_history replaces the branch by one commit with the folder. It fails if somebody else pushed in the meantime.
push_history() {
	GIT_INDEX_FILE=$PWD/$OUT/index
	export GIT_INDEX_FILE
	rm -f "$GIT_INDEX_FILE"
	git --work-tree="$OUT/history" add -A -f . && tree=$(git write-tree)
	status=$?
	rm -f "$GIT_INDEX_FILE"
	unset GIT_INDEX_FILE
	[ "$status" = 0 ] || return "$status"
	commit=$(git -c user.name=neurolens -c user.email=neurolens@localhost commit-tree "$tree" -m 'runs of NeuroLens') || return
	git push -q --force-with-lease="refs/heads/$HISTORY_BRANCH:$old" origin "$commit:refs/heads/$HISTORY_BRANCH"
}

# merge_into adds the runs to a store, which it creates if needed.
merge_into() {
	if [ ! -e "$1/neurolens.json" ]; then
		neurolens --store "$1" store init >/dev/null || return
	fi
	neurolens --store "$1" store merge "$OUT/store"
}

# keep_history adds the runs to the history. If it fails, the history is unchanged.
keep_history() {
	case $HISTORY in
	none | s3://*) ;; # a bucket gets them after run, with credentials that what is measured cannot read
	cache | artifact) merge_into "$OUT/history" ;;
	branch)
		for _ in 1 2 3 4 5; do
			fetch_history && merge_into "$OUT/history" || return
			push_history && return
		done
		say "the branch $HISTORY_BRANCH was not pushed"
		return 1
		;;
	*) merge_into "$HISTORY" ;;
	esac
}

# check_flags finds a mistake in FLAGS before anything is measured. Without runs compare ends with an error in any case: with flags that
# it can read, it is the same error as without flags. --matrix is part of that error, so it is not checked.
check_flags() {
	case " $FLAGS" in
	*' --matrix'*) return 0 ;;
	esac
	rm -rf "$OUT/empty"
	says=$(neurolens --store "$OUT/empty" store init 2>&1) || {
		status=$?
		say "$says"
		return "$status"
	}
	# shellcheck disable=SC2086 # FLAGS holds several words
	with=$(neurolens --store "$OUT/empty" compare --gate session=last --format md $FLAGS 2>&1 >/dev/null)
	without=$(neurolens --store "$OUT/empty" compare --gate session=last --format md 2>&1 >/dev/null)
	rm -rf "$OUT/empty"
	[ "$with" = "$without" ] && return
	say "FLAGS='$FLAGS': $with"
	return 2
}

# measure does the work of run. It writes the comparison to the file text, unless nothing was compared.
measure() {
	if [ ! -e "$SWEEP" ]; then
		say "there is no $SWEEP in $PWD: want SWEEP=FILE, and a call from the root of the repository: sh [[.Script]] run"
		return 2
	fi
	check_flags || return
	set --
	[ "$BACKEND" = all ] || set -- "$@" -P "backend=$BACKEND"
	[ "$PRECISION" = all ] || set -- "$@" -P "precision=$PRECISION"
	[ -z "$ITERATIONS" ] || set -- "$@" --iterations "$ITERATIONS"
	head=$(git rev-parse --verify HEAD) || return 2
	base=$(base_commit) || return
	if [ -z "$base" ]; then
		say "there is no commit to compare with: only the sweep is measured"
	elif [ "$base" = "$head" ] && git diff --quiet HEAD --; then
		say "the base is the measured commit itself, $head: there is nothing to compare"
		return 2
	else
		set -- "$@" --against "$base"
	fi
	status=0
	# shellcheck disable=SC2086 # BENCH_FLAGS holds several words
	neurolens --store "$OUT/store" bench $BENCH_FLAGS "$SWEEP" "$@" || status=$?
	case $status in
	0) ;;
	4) # some runs failed; the gate judges failures of one side
		if [ "$(neurolens --store "$OUT/store" ls session=last status=ok --limit 1 --format csv | wc -l)" -lt 2 ]; then
			say "no run was measured successfully"
			return 4
		fi
		;;
	*) return "$status" ;;
	esac
	if [ "$SAVE" = 1 ]; then
		keep_history || say "the runs were not added to the history"
	fi
	if [ -z "$base" ]; then
		echo "**Measured alone**: $head is the first commit of the repository, so there is nothing to compare with." >"$OUT/text"
		return
	fi
	echo "$base" >"$OUT/base"
	gate=0
	# shellcheck disable=SC2086 # FLAGS holds several words
	neurolens --store "$OUT/store" compare --gate session=last --format md $FLAGS >"$OUT/text" || gate=$?
	echo "$gate" >"$OUT/status" # for issue: inconclusive points do not close it, also where they are no error
	case $gate in
	3) # a warning, unless nothing was compared or requests failed, as with --gate=regression
		why=$(sed -n '1s/^\*\*\(.*\)\*\*$/\1/p' "$OUT/text")
		case $why in
		'Nothing was compared'* | *' with failed requests')
			say "$why"
			return 3
			;;
		'Nothing was decided'*)
			echo "To decide it, measure more repeats (\`--until-conclusive\` in \`BENCH_FLAGS\`), or on a machine without other work. For a command that" \
				"computes, processor time varies less than latency: add \`--metric cpu_user\` to \`FLAGS\`, on GitHub also the input \`flags\` of the action." >>"$OUT/text"
			;;
		esac
		if [ "$STRICT" != 1 ]; then
			warn "${why:-some points are inconclusive}; STRICT=1 makes this an error"
			return 0
		fi
		;;
	0 | 1) ;;
	*) rm -f "$OUT/text" ;;
	esac
	return "$gate"
}

# report writes the text for people, and a title, to comment.md.
report() {
	# shellcheck disable=SC2016 # Markdown
	{ printf '### Benchmarks: `%s`\n\n' "$label" && cat; } >"$OUT/report" && mv "$OUT/report" "$OUT/comment.md"
}

# report_nothing STATUS reports that nothing was measured or compared, and the last line of the log. Nothing in that line is Markdown.
report_nothing() {
	{
		printf '**Not measured** at %.12s: %s. A result of an earlier push says nothing about this one.\n' "$push" "$1"
		LC_ALL=C tr -d '\000-\010\013-\037\177`' <"$OUT/log" | LC_ALL=C awk '
			NF { last = $0 }
			/^neurolens/ { error = $0 }
			END {
				if (error != "") last = error
				if (length(last) > 1000) {
					last = substr(last, 1, 1000)
					sub(/[\300-\377][\200-\277]*$/, "", last) # a part of a character
					last = last "..."
				}
				if (last != "") print "\n```text\n" last "\n```"
			}'
	} | report
}

# begin forgets what an earlier push left, and reports that this one was not measured, which run replaces at its end.
begin() {
	mkdir -p "$OUT" && echo '*' >"$OUT/.gitignore"
	rm -rf "$OUT/store" # only runs of this call go into the history
	rm -f "$OUT/text" "$OUT/status" "$OUT/base" "$OUT/ended"
	: >"$OUT/log"
	report_nothing "$1"
	echo "$push" >"$OUT/push"
}

run() {
	unset GH_TOKEN GITHUB_TOKEN GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN NEUROLENS_TOKEN # what is measured gets no token
	begin 'the measurement was stopped before its end' || return
	{
		{
			measure
			echo $? >"$OUT/ended"
		} 2>&1 >&3 3>&- | (trap '' INT TERM HUP; exec tee "$OUT/log") >&2
	} 3>&1
	status=$(cat "$OUT/ended") || status=6
	if [ -s "$OUT/text" ]; then
		report <"$OUT/text"
	else
		report_nothing "status $status"
	fi
	cat "$OUT/comment.md"
	[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cut_to 1000000 <"$OUT/comment.md" >>"$GITHUB_STEP_SUMMARY"
	return "$status"
}

# cut_to BYTES leaves out items at the end of lists, down to half of the room, and rows at the end of tables, until the text is short
# enough. The rows that changed are in the first table. What is too long without any is cut off.
cut_to() {
	where="\`comment.md\`"
	[ -z "${GITHUB_RUN_ID:-}" ] || where="the [summary of the run](${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}/actions/runs/$GITHUB_RUN_ID)"
	[ -z "${CI_JOB_URL:-}" ] || where="\`comment.md\` of the [artifacts]($CI_JOB_URL/artifacts/browse)"
	LC_ALL=C awk -v limit="$1" -v where="$where" '
		function out(text) {
			if (cut) return
			if (printed + length(text) + 1 > limit - 200 - length(where)) {
				cut = 1
				text = substr(text, 1, limit - 200 - length(where) - printed)
				sub(/[\300-\377][\200-\277]*$/, "", text) # a part of a character
				text = text "\n\n... the rest is in " where
			}
			printed += length(text) + 1
			print text
		}
		{ line[NR] = $0; size += length($0) + 1 }
		END {
			room = limit - 700 - 2 * length(where) # for the line about the others
			for (i = 1; i <= NR; i++) {
				row[i] = line[i] ~ /^\| / && line[i + 1] !~ /^\|-/
				if (row[i]) size -= length(line[i]) + 1
			}
			for (i = NR; i > 0 && size > room / 2; i--) if (line[i] ~ /^\* /) {
				size -= length(line[i]) + 1
				left[i] = 1
				items++
			}
			for (i = 1; i <= NR; i++) if (row[i]) {
				size += length(line[i]) + 1
				if (size > room) {
					left[i] = 1
					rows++
				}
			}
			for (i = 1; i <= NR; i++) {
				if (!left[i]) out(line[i])
				if (row[i] && left[i + 1] && !told) {
					told = 1
					out("\n... and " rows " more rows, in " where)
				}
			}
			if (rows && !told) out("\n... and " rows " more rows, in " where)
			if (items) out("\n... and " items " more lines, in " where)
		}'
}

# body makes what is posted: the mark, what is read, and the report, no longer than the API takes.
body() {
	{ printf '%s\n\n' "$mark" && cat - "$OUT/comment.md"; } | cut_to "$limit" >"$OUT/body.md"
}

comment() {
	of_this_push "$OUT/push" || begin 'a step before the measurement failed' || return
	body </dev/null || return
	case "$forge ${PR_NUMBER:-none}" in
	github\ *[!0-9]*)
		say "PR_NUMBER=${PR_NUMBER:-}: want the number of the pull request"
		return 1
		;;
	esac
	[ "$forge" = none ] || ids=$(own_comments) || return
	case "$forge ${ids:-}" in
	none*) say "no GH_TOKEN and no NEUROLENS_TOKEN: $OUT/comment.md was not posted" ;;
	'github ') gh api --silent --method POST "repos/$GITHUB_REPOSITORY/issues/$PR_NUMBER/comments" -F "body=@$OUT/body.md" ;;
	github*)
		# shellcheck disable=SC2016 # variables of GraphQL
		gh api graphql --silent -f query='mutation($id: ID!, $body: String!) { updateIssueComment(input: {id: $id, body: $body}) { clientMutationId } }' \
			-f "id=$(printf '%s\n' "$ids" | head -n 1)" -F "body=@$OUT/body.md"
		;;
	'gitlab ') gitlab POST "$merge_request/notes" --data-urlencode "body@$OUT/body.md" >/dev/null ;;
	*) gitlab PUT "$merge_request/notes/$(printf '%s\n' "$ids" | head -n 1)" --data-urlencode "body@$OUT/body.md" >/dev/null ;;
	esac
}

# issue keeps one issue for each job. A regression opens or updates it. It is closed when no point regressed and none is inconclusive,
# compared with the commit that it names. Inconclusive points and errors leave it as it is.
issue() {
	if [ "$forge" = none ] || ! of_this_push "$OUT/push" || [ ! -e "$OUT/status" ]; then
		return 0 # nothing was compared
	fi
	status=$(cat "$OUT/status") && base=$(cat "$OUT/base") && found=$(open_issues) || return
	# shellcheck disable=SC2086 # number and commit
	set -- $found
	number=${1:-} good=${2:-}
	case "$status $number" in
	[01]\ ?*)
		if [ "$good" != "$base" ]; then
			say "issue $number compares with ${good:-no commit}, and this push was compared with $base: it stays as it is"
			return
		fi
		;;
	esac
	case "$status $number" in
	"1 "*)
		printf '<!-- good %s -->\nSlower than %s, at %s.\n\n' "$base" "$base" "$(git rev-parse HEAD)" | body
		title="benchmark regression: $label"
		case "$forge $number" in
		"github ") gh api --silent --method POST "repos/$GITHUB_REPOSITORY/issues" -f "title=$title" -F "body=@$OUT/body.md" ;;
		github*) gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/$number" -F "body=@$OUT/body.md" ;;
		"gitlab ") gitlab POST "$project/issues" --data-urlencode "title=$title" --data labels=neurolens --data-urlencode "description@$OUT/body.md" >/dev/null ;;
		*) gitlab PUT "$project/issues/$number" --data-urlencode "description@$OUT/body.md" >/dev/null ;;
		esac
		;;
	"0 "?*)
		case $forge in
		github)
			gh api --silent --method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" -f "body=No regression any more at $(git rev-parse HEAD)." &&
				gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/$number" -f state=closed
			;;
		*) gitlab PUT "$project/issues/$number" --data state_event=close >/dev/null ;;
		esac
		;;
	esac
}

case ${1:-run} in
run) run ;;
key) echo "$key" ;;
base) base || warn "the open issue was not looked up, see above: it stays as it is" ;;
comment | issue)
	"$1" || warn "$1: not posted, see above (a pull request from a fork has a token that may only read); the result is in $OUT/comment.md"
	;;
*)
	say "want base, run, comment, issue or key, got $1"
	exit 2
	;;
esac
