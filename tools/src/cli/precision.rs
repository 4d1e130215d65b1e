//! `--precision`: the precision of products, and files of ranges.
//!
//! ```text
//! function main          the function whose inputs of products have these ranges
//! -0.25 6.5              low and high, one line for each, in the order of tf-lower-precision
//! ```

use clap::Args;

use super::failure::Failure;
use super::files::{Place, text};
use super::options::place;

/// The precision of products.
#[derive(Args, Clone, Debug)]
pub(super) struct PrecisionArgs {
    /// The precision of products with constant weights: weights are converted when the program is compiled,
    /// inputs when it runs. Everything else stays f32
    #[arg(long, value_name = "TYPE", default_value = "f32", value_parser = ["f32", "bf16", "int8"])]
    precision: String,

    /// (int8) The ranges of the products' inputs, as `bef-exec --observe-ranges` writes them; default: found
    /// at each run
    #[arg(long, value_name = "FILE", value_parser = place())]
    ranges: Option<Place>,

    /// Return the inputs of the products from this function instead.
    #[arg(skip)]
    observes: Option<String>,
}

impl PrecisionArgs {
    /// True if products are computed in another precision than f32.
    pub(super) fn is_lower(&self) -> bool {
        self.precision != "f32"
    }

    /// The same in f32.
    pub(super) fn in_f32(&self) -> PrecisionArgs {
        PrecisionArgs { precision: "f32".to_owned(), ranges: None, observes: None }
    }

    /// The same, for a function that returns the inputs of its products.
    pub(super) fn observing(&self, function: &str) -> PrecisionArgs {
        PrecisionArgs { observes: Some(function.to_owned()), ..self.in_f32() }
    }

    /// The options of the pass; `None` if nothing is to be done.
    pub(super) fn options(&self) -> Result<Option<String>, Failure> {
        if let Some(function) = &self.observes {
            return Ok(Some(format!("observe function='{function}'")));
        }
        let Some(file) = &self.ranges else {
            return Ok(self.is_lower().then(|| format!("precision={}", self.precision)));
        };
        if self.precision != "int8" {
            return Err(Failure::Usage("'--ranges' are for '--precision int8'".to_owned()));
        }
        let text = text(file, file.read()?)?;
        let ranges = Ranges::parse(&text)
            .map_err(|(line, why)| Failure::Refused(format!("{}:{line}: {why}", file.name())))?;
        let ends: Vec<String> = ranges.ends.iter().map(|(low, high)| format!("{low}:{high}")).collect();
        let Ranges { function, .. } = ranges;
        Ok(Some(format!("precision=int8 function='{function}' ranges='{}'", ends.join(","))))
    }
}

/// The ranges of the inputs of a function's products.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranges {
    pub(super) function: String,
    pub(super) ends: Vec<(f32, f32)>,
}

impl Ranges {
    /// The ranges in a file; else the line with the mistake, and why.
    fn parse(text: &str) -> Result<Ranges, (usize, String)> {
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let is_name = |name: &&str| !name.is_empty() && !name.contains('\'');
        let first = lines.next().and_then(|(_, line)| line.strip_prefix("function ")).filter(is_name);
        let Some(function) = first else { return Err((1, "expected `function NAME`".to_owned())) };
        let number = |text: &str| text.parse::<f32>().ok().filter(|number| number.is_finite());
        let range = |(at, line): (usize, &str)| {
            let ends =
                line.split_once(' ').and_then(|(low, high)| Some((number(low)?, number(high.trim())?)));
            ends.filter(|(low, high)| low <= high)
                .ok_or_else(|| (at, format!("'{line}' is no range: LOW HIGH")))
        };
        let ends = lines.filter(|(_, line)| !line.is_empty()).map(range).collect::<Result<_, _>>()?;
        Ok(Ranges { function: function.to_owned(), ends })
    }

    /// The file.
    pub(super) fn text(&self) -> String {
        let lines = self.ends.iter().map(|(low, high)| format!("{low} {high}\n"));
        format!("function {}\n{}", self.function, lines.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ranges_are_read_as_written() {
        let ranges = Ranges { function: "main".to_owned(), ends: vec![(-0.1, 6.0), (0.0, 1e-9), (0.0, 0.0)] };
        assert_eq!(Ranges::parse(&ranges.text()), Ok(ranges));
        for (text, line) in [
            ("", 1),
            ("1 2\n", 1),
            ("function \n", 1),
            ("function a'b\n", 1),
            ("function main\n1 2\n2 1\n", 3),
            ("function main\n1\n", 2),
            ("function main\n0 inf\n", 2),
            ("function main\n\nNaN 1\n", 3),
        ] {
            assert_eq!(Ranges::parse(text).map_err(|(at, _)| at), Err(line), "{text}");
        }
    }
}
