//! Strings: creation, concatenation, comparison, printing, reading from files.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Deferred, StrAttr};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};

use crate::objects::Text;

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.get_string", |value: StrAttr<'_>| Text::from(value.0)));
    registry.add(kernel!("tfrt_test.get_string_sync", |value: StrAttr<'_>| Text::from(value.0)));
    registry.add(kernel!("tfrt_test.print_string", |text: &Text, cx: &ExecContext| {
        cx.print(&format!("string = {}\n", text.text())).map(|()| Chain)
    }));
    registry
        .add(kernel!("tfrt_test.append_string", |a: &Text, b: &Text| Text([&*a.0, &*b.0].concat().into())));
    registry.add(kernel!("tfrt_test.string_equal", |a: &Text, b: &Text| a.0 == b.0));
    registry.add(kernel!("tfrt_test.format_string", |text: &Text, number: i32| {
        format_number(&text.text(), number).map(|text| Text::from(text.as_str()))
    }));
    registry.add(kernel!("tfrt_test.read_string_from_file", |path: &Text| {
        let path = path.text().into_owned();
        Deferred::blocking(move |_| read(&path))
    }));
    registry.add(kernel!("tfrt_test.print_hello", |cx: &ExecContext| {
        cx.print("hello host executor!\n").map(|()| Chain)
    }));
    registry.add(kernel!("tfrt_test.logging", |text: &Text| {
        let macros = ["TFRT_LOG(INFO)", "TFRT_LOG(WARNING)", "TFRT_LOG(ERROR)"];
        let conditional =
            ["TFRT_LOG_IF(INFO, true)", "TFRT_LOG_IF(WARNING, true)", "TFRT_LOG_IF(ERROR, true)"];
        for name in macros.iter().chain(&conditional) {
            eprintln!("from {name}: {}", text.text());
        }
        Chain
    }));
    registry.add(kernel!("tfrt_test.use_sample_shared_context", |_: Chain, cx: &ExecContext| {
        let name = "sample_shared_context".into();
        let shared = cx.request.resources.or_insert_with(&name, || Text::from("sample_shared_context0"));
        ((*shared).clone(), Chain)
    }));
}

fn read(path: &str) -> Result<Text, KernelError> {
    std::fs::read(path)
        .map(|bytes| Text(bytes.into()))
        .map_err(|_| KernelError::new(ErrorCode::NotFound, format!("failed to read from file {path}")))
}

/// Limit on the width of a formatted number.
const MAX_WIDTH: usize = 1000;

/// `text` with `number` in place of `%d`, as in C's printf: flags `-`, `0`, `+`, blank and a width; `%%` is a
/// percent sign.
fn format_number(text: &str, number: i32) -> Result<String, KernelError> {
    let bad = || KernelError::invalid(format!("'{text}' is not a format for one integer"));
    let mut result = String::new();
    let mut rest = text;
    let mut used = false;
    while let Some((before, after)) = rest.split_once('%') {
        result.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            result.push('%');
            rest = after;
            continue;
        }
        let spec = after.trim_start_matches(['-', '0', '+', ' ']);
        let flags = &after[..after.len() - spec.len()];
        let conversion = spec.trim_start_matches(|c: char| c.is_ascii_digit());
        let width = &spec[..spec.len() - conversion.len()];
        let width: usize = if width.is_empty() { 0 } else { width.parse().map_err(|_| bad())? };
        let Some(after) = conversion.strip_prefix(['d', 'i']) else { return Err(bad()) };
        if width > MAX_WIDTH || std::mem::replace(&mut used, true) {
            return Err(bad());
        }
        let sign = match number {
            ..0 => "-",
            _ if flags.contains('+') => "+",
            _ if flags.contains(' ') => " ",
            _ => "",
        };
        let digits = number.unsigned_abs().to_string();
        let missing = width.saturating_sub(sign.len() + digits.len());
        if flags.contains('-') {
            result.extend([sign, &digits, &" ".repeat(missing)]);
        } else if flags.contains('0') {
            result.extend([sign, &"0".repeat(missing), &digits]);
        } else {
            result.extend([&" ".repeat(missing), sign, &digits]);
        }
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::format_number;

    #[test]
    fn formats_are_those_of_printf() {
        let f = |text: &str, number| format_number(text, number).ok();
        assert_eq!(f("a%db", 7).as_deref(), Some("a7b"));
        assert_eq!(f("%05d|%%", -42).as_deref(), Some("-0042|%"));
        assert_eq!(f("%-5d|", 42).as_deref(), Some("42   |"));
        assert_eq!(f("%+3i", 4).as_deref(), Some(" +4"));
        assert_eq!(f("none", 4).as_deref(), Some("none"));
        assert_eq!(f("%d", i32::MIN).as_deref(), Some("-2147483648"));
        for bad in ["%s", "%", "%d %d", "%99999999999999999999d", "%1001d"] {
            assert_eq!(f(bad, 1), None, "{bad}");
        }
    }
}
