//! The values of options, parsed for clap: its message of a wrong value ends with the error here.

/// A number that is not negative.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("expected a number that is not negative".to_owned()),
    }
}

/// A share of values in per cent, above one half.
pub(super) fn percentile(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 50.0 && value <= 100.0 => Ok(value),
        _ => Err("expected a number above 50, at most 100".to_owned()),
    }
}

/// A number of elements; `all` is any number.
pub(super) fn elements(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number of elements, or all".to_owned()),
    }
}
