//! `ir-translate --print-kernels`: the kernels of a program, and how a small program includes them.

use std::collections::BTreeSet;
use std::fmt::Write;

use bef_format::Image;

/// The features as an entry of a Cargo.toml, the argument of `befrost::kernels!`, then the kernels with the
/// feature of each.
pub(super) fn text(image: &Image<'_>) -> String {
    let standard = befrost::registry();
    let names: BTreeSet<&str> = image.kernel_names().collect();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut features = BTreeSet::new();
    let mut lines = String::new();
    for name in &names {
        let of = match (befrost_kernels::feature(name), standard.find(name)) {
            (Some(feature), _) => {
                features.insert(format!("\"{feature}\""));
                feature
            }
            (None, Some(_)) => "always included",
            (None, None) => "no standard kernel",
        };
        // Writing to a string does not fail.
        _ = writeln!(lines, "{name:width$}  {of}");
    }
    let features: Vec<String> = features.into_iter().collect();
    let named: Vec<&str> = names.into_iter().filter(|name| standard.find(name).is_some()).collect();
    format!(
        "befrost = {{ default-features = false, features = [{}] }}\n\
         befrost::kernels!(\"{}\")\n{lines}",
        features.join(", "),
        named.join(" ")
    )
}
