package schemas

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// CheckTimestamp checks a moment in ISO 8601: the profile of RFC 3339, and the
// wider forms that the text of the specification ("an ISO 8601 formatted
// string") also covers: no offset, no seconds, a date alone, the basic format.
func CheckTimestamp(s string) error {
	m := isoForm().FindStringSubmatch(s)
	if m == nil {
		return errors.New("want the form 2006-01-02T15:04:05Z")
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(m[i])
		return n
	}
	year, month, day := number(1), number(2)+number(4), number(3)+number(5)
	if d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC); int(d.Month()) != month || d.Day() != day {
		return fmt.Errorf("there is no day %d-%02d-%02d", year, month, day)
	}
	hour, minute, second := number(6), number(7), number(8)
	if hour > 24 || minute > 59 || second > 60 || hour == 24 && minute+second > 0 {
		return fmt.Errorf("there is no time %02d:%02d:%02d", hour, minute, second)
	}
	if number(9) > 23 || number(10) > 59 {
		return fmt.Errorf("there is no offset %s:%s", m[9], m[10])
	}
	return nil
}

var isoForm = sync.OnceValue(func() *regexp.Regexp {
	const date = `(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d))`
	const clock = `(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?`
	const offset = `(?:[Zz]|[+-](\d\d)(?::?(\d\d))?)?`
	return regexp.MustCompile(`^` + date + `(?:[Tt ]` + clock + offset + `)?$`)
})
