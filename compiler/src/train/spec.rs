//! The syntax of options: `NAME:key=value,key=value` and patterns.

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;

/// A regular expression on names of variables, which matches anywhere in them.
#[derive(Clone)]
pub struct NamePattern(Regex);

impl NamePattern {
    /// True if a name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

impl PartialEq for NamePattern {
    fn eq(&self, other: &NamePattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for NamePattern {}

impl FromStr for NamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<NamePattern, String> {
        Regex::new(text)
            .map(NamePattern)
            .map_err(|error| format!("'{text}' is no regular expression: {error}"))
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl fmt::Debug for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A name with values.
pub(super) struct Spec<'t> {
    pub name: &'t str,
    /// Keys and values. A value may be a list, with commas.
    pub values: Vec<(&'t str, String)>,
}

impl<'t> Spec<'t> {
    /// Parses `NAME`, `NAME:k=v`, `NAME:k=v,k=v,w,w`.
    pub(super) fn parse(text: &'t str) -> Result<Spec<'t>, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        Ok(Spec { name: name.trim(), values: values(rest)? })
    }
}

/// Parses `k=v,k=v,w,w`, in which a word without a key continues a list.
pub(super) fn values(text: &str) -> Result<Vec<(&str, String)>, String> {
    let mut values: Vec<(&str, String)> = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if let (None, Some((_, list)), Ok(_)) = (word.split_once('='), values.last_mut(), word.parse::<f64>())
        {
            list.push(',');
            list.push_str(word);
            continue;
        }
        // A flag without a value is set.
        let (key, value) = word.split_once('=').unwrap_or((word, "true"));
        let key = key.trim();
        if values.iter().any(|(known, _)| *known == key) {
            return Err(format!("'{key}' is given twice"));
        }
        values.push((key, value.trim().to_owned()));
    }
    Ok(values)
}

/// A finite number; `true` is 1 and `false` is 0.
pub(super) fn number(key: &str, text: &str) -> Result<f64, String> {
    match text {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        _ => text
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| format!("{key}='{text}' is no number")),
    }
}

/// A list of finite numbers.
pub(super) fn numbers(key: &str, text: &str) -> Result<Vec<f64>, String> {
    text.split(['/', ',', ' ']).filter(|word| !word.is_empty()).map(|word| number(key, word)).collect()
}
