package discover

import "strings"

// maxNested is the maximum depth of nested strings with fields. Python allows fewer.
const maxNested = 200

// text skips a string from its first quote to its last, with all its fields.
func (s *scanner) text(prefix string) {
	s.quoted(prefix, 0)
	s.tokens = append(s.tokens, token{kind: stringToken})
}

// quoted skips a string. depth is the number of strings around it.
func (s *scanner) quoted(prefix string, depth int) {
	if depth > maxNested {
		s.fail(s.line, "strings are nested more than %d deep", maxNested)
		return
	}
	quote := s.source[s.at : s.at+1]
	if strings.HasPrefix(s.source[s.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	first := s.line
	s.at += len(quote)
	fields := strings.ContainsAny(prefix, "fFtT")
	raw := strings.ContainsAny(prefix, "rR")
	for s.at < len(s.source) {
		switch c := s.peek(0); {
		case strings.HasPrefix(s.source[s.at:], quote):
			s.at += len(quote)
			return
		case c == '\\':
			s.escape(fields, raw)
		case c == '\n' || c == '\r':
			if len(quote) == 1 {
				s.fail(first, "a string is not closed: want a %s before the end of the line", quote)
				return
			}
			s.newline()
		case fields && c == '{' && s.peek(1) == '{', fields && c == '}' && s.peek(1) == '}':
			s.at += 2
		case fields && c == '{':
			s.field(quote, depth)
		default:
			s.at++
		}
	}
	s.fail(first, "a string is not closed: want a %s", quote)
}

// escape skips a \ and the escaped characters. Even in a raw string it keeps a quote from ending the string.
func (s *scanner) escape(fields, raw bool) {
	if s.at++; s.newline() {
		return
	}
	if end := strings.IndexByte(s.source[s.at:], '}'); fields && !raw && end > 0 && strings.HasPrefix(s.source[s.at:], "N{") {
		s.at += end + 1 // a character by its name
		return
	}
	if !fields || s.peek(0) != '{' && s.peek(0) != '}' {
		s.at = min(s.at+1, len(s.source))
	}
}

// field skips {expression!r:format} in a string with that quote. Brackets in the expression do not count for the statement.
func (s *scanner) field(quote string, depth int) {
	first := s.line
	var open []byte
	for s.at++; s.at < len(s.source); {
		switch c := s.peek(0); {
		case c == '}' && len(open) == 0:
			s.at++
			return
		case c == ':' && len(open) == 0:
			s.format(quote, depth)
			return
		case c == '\n' || c == '\r':
			s.newline()
		case c == '#':
			s.comment()
		case c == '"' || c == '\'':
			s.quoted(s.prefixBefore(), depth+1)
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, ")]}"[strings.IndexByte("([{", c)])
			s.at++
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 || open[len(open)-1] != c {
				s.fail(s.line, "unmatched %c", c)
				return
			}
			open = open[:len(open)-1]
			s.at++
		default:
			s.at++
		}
	}
	s.fail(first, "a field of a string is not closed: want a }")
}

// prefixBefore are the letters before a quote in a field that define the type of the string.
func (s *scanner) prefixBefore() string {
	start := s.at
	for start > 0 && (isLetter(s.source[start-1]) || isDigit(s.source[start-1])) {
		start--
	}
	if prefix := s.source[start:s.at]; isPrefix(prefix) {
		return prefix
	}
	return ""
}

// format skips :format} of a field, which may contain fields.
func (s *scanner) format(quote string, depth int) {
	first := s.line
	for s.at++; s.at < len(s.source); {
		switch c := s.peek(0); {
		case c == '}':
			s.at++
			return
		case c == '{':
			if depth++; depth > maxNested {
				s.fail(s.line, "fields are nested more than %d deep", maxNested)
				return
			}
			s.field(quote, depth)
			depth--
		case c == '\\':
			s.escape(true, false)
		case c == '\n' || c == '\r':
			if len(quote) == 1 {
				s.fail(first, "a string is not closed: want a %s before the end of the line", quote)
				return
			}
			s.newline()
		case strings.HasPrefix(s.source[s.at:], quote):
			s.fail(first, "a field of a string is not closed: want a }")
			return
		default:
			s.at++
		}
	}
	s.fail(first, "a field of a string is not closed: want a }")
}
