#!/bin/sh
# Measures the working tree and a commit alternately in one session, and reports what changed. Written by `neurolens ci init`.
# Every CI system calls it in the same way, and you can run it by hand.
#
#   sh [[.Script]] run      measure, compare, keep the runs; exits with the status of the gate
#   sh [[.Script]] comment  create or update the comment of the pull request ($PR_NUMBER)
#   sh [[.Script]] issue    open, update or close the issue about the branch
#
# Exit status: 0 no regression; 1 a regression, or a point that the head no longer measures; 3 some points are inconclusive, or
# none is ok on the base (only with STRICT=1); any other: an error.
#
# Edit these settings, or set them in the environment, unless the file of your CI system sets them itself.
SWEEP=${SWEEP:-[[.Sweep]]} # the sweep to measure
BENCH_FLAGS=${BENCH_FLAGS---wait} # flags for neurolens bench, such as --until-conclusive; --wait waits for another job on the same machine
FLAGS=${FLAGS---threshold 5%} # flags for neurolens compare; --threshold overrides the thresholds of the sweep
STRICT=${STRICT:-0} # 1: inconclusive points fail; 0: they are only a warning
HISTORY=${HISTORY:-[[.History]]} # where runs are kept: cache or artifact (the CI system stores them), branch, a folder, or none
HISTORY_BRANCH=${HISTORY_BRANCH:-neurolens-history} # the branch for HISTORY=branch
SAVE=${SAVE:-0} # 1: add the runs of this call to the history
BASE=${BASE:-} # the commit to compare with; empty: the previous one
BACKEND=${BACKEND:-all} # a backend of the sweep; all: as in the sweep
PRECISION=${PRECISION:-all} # likewise, a precision
ITERATIONS=${ITERATIONS:-} # iterations of each run; empty: as in the sweep
OUT=${OUT:-neurolens-out} # the folder for all output
set -u

label="$SWEEP"
[ "$BACKEND" = all ] || label="$label $BACKEND"
[ "$PRECISION" = all ] || label="$label $PRECISION"
mark="<!-- neurolens $label -->"

say() { echo "neurolens.sh: $*" >&2; }

# The CI system whose API is used: github (gh, GH_TOKEN), gitlab (curl, jq, NEUROLENS_TOKEN), or none.
forge=none
[ -z "${GITHUB_REPOSITORY:-}" ] || [ -z "${GH_TOKEN:-}" ] || forge=github
[ -z "${CI_API_V4_URL:-}" ] || [ -z "${NEUROLENS_TOKEN:-}" ] || forge=gitlab

# gitlab METHOD PATH [ARGUMENTS of curl...]
gitlab() {
	method=$1 path=$2
	shift 2
	curl -sSf --header "PRIVATE-TOKEN: $NEUROLENS_TOKEN" --request "$method" "$@" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/$path"
}

# open_issue prints the number of the open issue and the commit that it compares with.
open_issue() {
	export MARK="$mark"
	case $forge in
	github)
		gh api --paginate "repos/$GITHUB_REPOSITORY/issues?state=open&per_page=100" \
			--jq '.[] | select(.user.login == "github-actions[bot]" and (.body // "" | startswith(env.MARK))) | "\(.number) \(.body | capture("<!-- good (?<sha>[0-9a-f]+) -->").sha)"' |
			head -n 1
		;;
	gitlab)
		gitlab GET "issues?state=opened&labels=neurolens&per_page=100" |
			jq -r '.[] | select(.description // "" | startswith(env.MARK)) | "\(.iid) \(.description | capture("<!-- good (?<sha>[0-9a-f]+) -->").sha)"' |
			head -n 1
		;;
	esac
}

# base_commit prints the commit to compare with. While an issue is open, it is the commit of the issue: the issue is closed only
# when the code is as fast as it was then.
base_commit() {
	good=
	if [ "$SAVE" = 1 ]; then
		issue=$(open_issue) || issue=
		good=${issue#* }
	fi
	for commit in "$good" "$BASE" HEAD~1; do
		if [ -n "$commit" ] && git rev-parse --verify --quiet "$commit^{commit}"; then
			return
		fi
	done
	return 1
}

# fetch_history puts the branch of the history into a folder.
fetch_history() {
	rm -rf "$OUT/history" && mkdir -p "$OUT/history"
	old=
	if git fetch -q --depth 1 origin "+refs/heads/$HISTORY_BRANCH:refs/remotes/origin/$HISTORY_BRANCH" 2>/dev/null; then
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
	none) ;;
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

run() {
	rm -rf "$OUT/store" # only runs of this call go into the history
	rm -f "$OUT/comment.md" "$OUT/status" "$OUT/base"
	if [ ! -e "$SWEEP" ]; then
		say "there is no $SWEEP in $PWD: want SWEEP=FILE, and a call from the root of the repository: sh [[.Script]] run"
		return 2
	fi
	mkdir -p "$OUT" && echo '*' >"$OUT/.gitignore"
	check_flags || return
	set --
	[ "$BACKEND" = all ] || set -- "$@" -P "backend=$BACKEND"
	[ "$PRECISION" = all ] || set -- "$@" -P "precision=$PRECISION"
	[ -z "$ITERATIONS" ] || set -- "$@" --iterations "$ITERATIONS"
	case $BASE in
	'' | 00000000*) ;; # a new branch has no previous commit
	*)
		if ! git rev-parse --verify --quiet "$BASE^{commit}" >/dev/null; then
			if [ "$SAVE" != 1 ]; then
				say "BASE=$BASE is not a commit of this clone: fetch it (fetch-depth: 0), or name another one"
				return 2
			fi
			say "BASE=$BASE is not a commit of this clone (the branch was rewritten): the previous commit is used"
		fi
		;;
	esac
	if base=$(base_commit); then
		set -- "$@" --against "$base"
	else
		say "there is no commit to compare with: only the sweep is measured"
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
	[ -n "$base" ] || return 0
	echo "$base" >"$OUT/base"
	status=0
	# shellcheck disable=SC2086 # FLAGS holds several words
	neurolens --store "$OUT/store" compare --gate session=last --format md $FLAGS >"$OUT/comment.md" || status=$?
	echo "$status" >"$OUT/status"
	if [ "$status" = 3 ] && [ "$STRICT" != 1 ]; then
		# shellcheck disable=SC2086
		neurolens --store "$OUT/store" compare --gate=regression session=last --format md $FLAGS >"$OUT/comment.md" || return
		why=$(sed -n '1s/.*\(nothing to decide: [a-z ]*[a-z]\).*/\1/p' "$OUT/comment.md")
		: "${why:=some points are inconclusive}"
		say "warning: $why; STRICT=1 makes this an error"
		[ -z "${GITHUB_ACTIONS:-}" ] || echo "::warning::$why"
		status=0
	fi
	cat "$OUT/comment.md"
	return "$status"
}

# body writes the text to post: a mark, by which it is found later, and the comparison.
body() {
	printf '%s\n\n' "$mark" >"$OUT/body.md"
	cat - "$OUT/comment.md" >>"$OUT/body.md"
}

comment() {
	[ -s "$OUT/comment.md" ] || return 0
	body </dev/null
	export MARK="$mark"
	case $forge in
	github)
		id=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$PR_NUMBER/comments" \
			--jq '.[] | select(.user.login == "github-actions[bot]" and (.body | startswith(env.MARK))) | .id' | head -n 1)
		if [ -n "$id" ]; then
			gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$OUT/body.md"
		else
			gh pr comment "$PR_NUMBER" --body-file "$OUT/body.md"
		fi
		;;
	gitlab)
		notes="merge_requests/$CI_MERGE_REQUEST_IID/notes"
		id=$(gitlab GET "$notes?per_page=100" | jq -r '.[] | select(.body | startswith(env.MARK)) | .id' | head -n 1)
		if [ -n "$id" ]; then
			gitlab PUT "$notes/$id" --data-urlencode "body@$OUT/body.md" >/dev/null
		else
			gitlab POST "$notes" --data-urlencode "body@$OUT/body.md" >/dev/null
		fi
		;;
	*) say "no GH_TOKEN and no NEUROLENS_TOKEN: $OUT/comment.md was not posted" ;;
	esac
}

# issue keeps one issue for each sweep, backend and precision. A regression opens or updates it. It is closed when no point regressed
# and none is inconclusive. Inconclusive points leave it as it is.
issue() {
	[ "$forge" != none ] || return 0
	status=$(cat "$OUT/status" 2>/dev/null) || return 0
	found=$(open_issue) || return
	number=${found%% *}
	title="benchmark regression: $label"
	case "$status $number" in
	"1 "*)
		printf '<!-- good %s -->\nSlower than %s, at %s.\n\n' "$(cat "$OUT/base")" "$(cat "$OUT/base")" "$(git rev-parse HEAD)" | body
		case "$forge $number" in
		"github ") gh issue create --title "$title" --body-file "$OUT/body.md" ;;
		github*) gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/$number" -F "body=@$OUT/body.md" ;;
		"gitlab ") gitlab POST issues --data-urlencode "title=$title" --data labels=neurolens --data-urlencode "description@$OUT/body.md" >/dev/null ;;
		*) gitlab PUT "issues/$number" --data-urlencode "description@$OUT/body.md" >/dev/null ;;
		esac
		;;
	"0 ") ;;
	"0 "*)
		case $forge in
		github) gh issue close "$number" --comment "No regression any more at $(git rev-parse HEAD)." ;;
		*) gitlab PUT "issues/$number" --data state_event=close >/dev/null ;;
		esac
		;;
	esac
}

case ${1:-run} in
run | comment | issue) "${1:-run}" ;;
*)
	say "want run, comment or issue, got $1"
	exit 2
	;;
esac
