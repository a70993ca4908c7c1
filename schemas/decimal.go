package schemas

import (
	"bytes"
	"strconv"
	"strings"
)

// decimal is the exact value of a JSON number: digits × 10^exponent, without
// leading or trailing zeros, so that equal values have equal fields. Zero has
// no digits. It exists because big.Rat would expand 1e1000000 digit by digit.
type decimal struct {
	negative bool
	digits   string
	exponent int
	huge     bool // the exponent does not fit; it is then clamped
}

// parseDecimal reads a number whose syntax was checked.
func parseDecimal(text []byte) decimal {
	var d decimal
	text, d.negative = bytes.CutPrefix(text, []byte("-"))
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		const limit = 1 << 40
		e, err := strconv.ParseInt(string(bytes.TrimPrefix(text[i+1:], []byte("+"))), 10, 64)
		if err != nil || e > limit || e < -limit {
			d.huge = true
			e = limit
			if text[i+1] == '-' {
				e = -limit
			}
		}
		d.exponent = int(e)
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(string(text), ".")
	d.exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exponent += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// magnitude is the power of ten of the first digit: 0 for 1 to 9.
func (d decimal) magnitude() int { return d.exponent + len(d.digits) - 1 }

// integral reports whether the value is a whole number, however it is written.
func (d decimal) integral() bool { return d.exponent >= 0 }

// String is the same for equal values.
func (d decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	if d.digits == "" {
		return "0"
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exponent)
}
