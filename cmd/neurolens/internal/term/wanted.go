package term

import (
	"errors"
	"strconv"
)

// WantedNumber returns what a flag or a setting wants in place of a text that could not be read as a number, or as true or false. It is
// empty for other errors.
func WantedNumber(err error) string {
	var number *strconv.NumError
	switch {
	case !errors.As(err, &number):
		return ""
	case errors.Is(number.Err, strconv.ErrRange):
		return "a smaller number"
	case number.Func == "ParseFloat":
		return "a number"
	case number.Func == "ParseBool":
		return "true or false"
	}
	return "a whole number"
}
