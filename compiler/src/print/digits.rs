//! Decimal digits of small numbers, without a formatter.

/// `000001002...999`.
static THREE_DIGITS: [u8; 3000] = {
    let mut digits = [b'0'; 3000];
    let mut n = 0;
    while n < 1000 {
        digits[3 * n] += (n / 100) as u8;
        digits[3 * n + 1] += (n / 10 % 10) as u8;
        digits[3 * n + 2] += (n % 10) as u8;
        n += 1;
    }
    digits
};

static DIGITS: &str = match std::str::from_utf8(&THREE_DIGITS) {
    Ok(digits) => digits,
    Err(_) => panic!("digits are ASCII"),
};

/// Half of all printed tokens are numbers of values, so this avoids the formatter.
pub(super) fn push_number(n: u32, out: &mut String) {
    // `n` is less than 1000; digits before `skip` are omitted.
    let push = |n: u32, skip: usize, out: &mut String| {
        let at = 3 * n as usize;
        out.push_str(&DIGITS[at + skip..at + 3]);
    };
    let first = |n: u32, out: &mut String| push(n, 2 - usize::from(n >= 10) - usize::from(n >= 100), out);
    let (thousands, ones) = (n / 1000, n % 1000);
    match thousands {
        0 => first(ones, out),
        1..1000 => {
            first(thousands, out);
            push(ones, 0, out);
        }
        _ => {
            push_number(thousands, out);
            push(ones, 0, out);
        }
    }
}
