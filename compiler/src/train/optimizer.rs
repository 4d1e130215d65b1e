//! Optimizers: their kinds, numbers and slots.

use std::fmt;

use super::spec::{self, NamePattern, Spec};

/// The update rule of an optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Sgd,
    Momentum,
    Adam,
    AdamW,
    Adagrad,
    RmsProp,
    Lars,
}

/// An option of an optimizer with its value, or in [`KINDS`] its default.
type Number = (&'static str, f64);

/// The options that are flags: 0 or 1.
const FLAGS: [&str; 2] = ["nesterov", "centered"];

const ADAM: &[Number] = &[("lr", 0.001), ("beta1", 0.9), ("beta2", 0.999), ("epsilon", 1e-8)];

/// All optimizers.
const KINDS: &[(&str, Algorithm, &[Number])] = &[
    ("sgd", Algorithm::Sgd, &[("lr", 0.01)]),
    ("momentum", Algorithm::Momentum, &[("lr", 0.01), ("momentum", 0.9), ("nesterov", 0.0)]),
    ("adam", Algorithm::Adam, ADAM),
    ("adamw", Algorithm::AdamW, &[ADAM[0], ADAM[1], ADAM[2], ADAM[3], ("weight_decay", 0.01)]),
    ("adagrad", Algorithm::Adagrad, &[("lr", 0.01), ("initial_accumulator", 0.1), ("epsilon", 0.0)]),
    (
        "rmsprop",
        Algorithm::RmsProp,
        &[("lr", 0.001), ("decay", 0.9), ("momentum", 0.0), ("epsilon", 1e-10), ("centered", 0.0)],
    ),
    ("lars", Algorithm::Lars, &[("lr", 0.1), ("momentum", 0.9), ("trust", 0.001), ("weight_decay", 1e-4)]),
];

/// An optimizer with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    pub(super) kind: Algorithm,
    name: &'static str,
    numbers: Vec<Number>,
}

impl Optimizer {
    /// Gradient descent.
    pub fn sgd(lr: f64) -> Optimizer {
        Optimizer::of(Algorithm::Sgd).with("lr", lr)
    }

    /// Gradient descent with momentum.
    pub fn momentum(lr: f64, momentum: f64) -> Optimizer {
        Optimizer::of(Algorithm::Momentum).with("lr", lr).with("momentum", momentum)
    }

    /// Adam.
    pub fn adam(lr: f64) -> Optimizer {
        Optimizer::of(Algorithm::Adam).with("lr", lr)
    }

    /// Adam with decoupled weight decay.
    pub fn adamw(lr: f64, weight_decay: f64) -> Optimizer {
        Optimizer::of(Algorithm::AdamW).with("lr", lr).with("weight_decay", weight_decay)
    }

    /// An optimizer with its default numbers.
    fn of(algorithm: Algorithm) -> Optimizer {
        let &(name, kind, numbers) =
            KINDS.iter().find(|(_, kind, _)| *kind == algorithm).unwrap_or(&KINDS[0]);
        Optimizer { kind, name, numbers: numbers.to_vec() }
    }

    /// Sets a number that the optimizer has. Whether it is in range is checked when it is used.
    fn with(mut self, key: &str, value: f64) -> Optimizer {
        self.numbers.iter_mut().filter(|(known, _)| *known == key).for_each(|(_, number)| *number = value);
        self
    }

    /// Parses `adam`, `adam:lr=1e-3,beta1=0.9`.
    ///
    /// # Errors
    /// If there is no such optimizer or number; the message lists the known ones.
    pub fn parse(text: &str) -> Result<Optimizer, String> {
        let Spec { name, values } = Spec::parse(text)?;
        let found = KINDS.iter().find(|(known, ..)| *known == name);
        let &(name, kind, numbers) = found.ok_or_else(|| {
            let all: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
            format!("there is no optimizer '{name}': there are {}", all.join(", "))
        })?;
        let mut optimizer = Optimizer { kind, name, numbers: numbers.to_vec() };
        for (key, value) in values {
            optimizer.set(key, spec::number(key, &value)?)?;
        }
        Ok(optimizer)
    }

    /// Sets a number.
    ///
    /// # Errors
    /// If the optimizer has no such number, or it is out of range.
    pub fn set(&mut self, key: &str, value: f64) -> Result<(), String> {
        let name = self.name;
        if let Some(found) = self.numbers.iter_mut().find(|(known, _)| *known == key) {
            if value < 0.0 {
                return Err(format!("{key}={value} of optimizer '{name}' is negative"));
            }
            found.1 = value;
            return Ok(());
        }
        let all: Vec<&str> = self.numbers.iter().map(|(name, _)| *name).collect();
        Err(format!("optimizer '{name}' has no '{key}': it has {}", all.join(", ")))
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One of its numbers.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    /// One of its numbers, or 0.
    pub(super) fn get(&self, key: &str) -> f64 {
        self.number(key).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.get(key) != 0.0
    }

    /// Its numbers as JSON, after its name.
    pub(super) fn json(&self) -> String {
        let number = |(key, value): &Number| match FLAGS.contains(key) {
            true => format!(", \"{key}\": {}", *value != 0.0),
            false => format!(", \"{key}\": {value:?}"),
        };
        let numbers: String = self.numbers.iter().map(number).collect();
        format!("{{\"name\": \"{}\"{numbers}}}", self.name)
    }

    /// The slots of a variable: the suffix of each name, and the initial value.
    pub(super) fn slots(&self) -> Vec<(&'static str, f64)> {
        match self.kind {
            Algorithm::Sgd => vec![],
            Algorithm::Momentum | Algorithm::Lars => vec![("Momentum", 0.0)],
            Algorithm::Adam | Algorithm::AdamW => vec![("Adam", 0.0), ("Adam_1", 0.0)],
            Algorithm::Adagrad => vec![("Adagrad", self.get("initial_accumulator"))],
            Algorithm::RmsProp if self.flag("centered") => {
                vec![("RMSProp", 1.0), ("RMSProp_1", 0.0), ("RMSProp_2", 0.0)]
            }
            Algorithm::RmsProp => vec![("RMSProp", 1.0), ("RMSProp_1", 0.0)],
        }
    }

    /// True if an update takes the gradient of some rows. All but [`Optimizer::changes_all_rows`] then leave
    /// the other rows alone.
    pub(super) fn takes_rows(&self) -> bool {
        self.kind != Algorithm::Lars
    }

    /// True if an update by the gradient of some rows changes the other rows too, as a gradient of 0 does.
    pub(super) fn changes_all_rows(&self) -> bool {
        matches!(self.kind, Algorithm::Adam | Algorithm::AdamW)
    }
}

impl Default for Optimizer {
    /// `sgd`.
    fn default() -> Optimizer {
        Optimizer::of(Algorithm::Sgd)
    }
}

impl fmt::Display for Optimizer {
    /// The text that [`Optimizer::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.numbers.iter().map(|(key, value)| format!("{key}={value:?}"));
        write!(f, "{}:{}", self.name, numbers.collect::<Vec<_>>().join(","))
    }
}

/// A factor for L2 regularization or weight decay.
#[derive(Clone, Debug, PartialEq)]
pub struct Decay {
    /// The factor.
    pub value: f64,
    /// Applies only to variables of two or more axes: not to biases and the factors of normalizations.
    pub only_matrices: bool,
}

impl Decay {
    /// Parses `1e-4`, `1e-4:only=rank>=2`.
    ///
    /// # Errors
    /// If the factor is not a number, or `only` has another value.
    pub fn parse(text: &str) -> Result<Decay, String> {
        let (value, rest) = text.split_once(':').map_or((text, None), |(value, rest)| (value, Some(rest)));
        let only_matrices = match rest.map(|rest| rest.trim().strip_prefix("only=").unwrap_or(rest.trim())) {
            None => false,
            Some("rank>=2") => true,
            Some(other) => return Err(format!("there is no '{other}': a decay has only=rank>=2")),
        };
        Ok(Decay { value: spec::number("the decay", value.trim())?, only_matrices })
    }

    /// The factor of a variable.
    pub(super) fn of(&self, rank: Option<usize>) -> f64 {
        if self.only_matrices && rank.is_some_and(|rank| rank < 2) { 0.0 } else { self.value }
    }

    pub(super) fn json(&self) -> String {
        let only = if self.only_matrices { ", \"only\": \"rank>=2\"" } else { "" };
        format!("{{\"value\": {:?}{only}}}", self.value)
    }
}

/// Variables with numbers of their own.
#[derive(Clone, Debug)]
pub struct VariableGroup {
    /// Matches the names of the group's variables.
    pub pattern: NamePattern,
    /// The optimizer's numbers, `l2` and `weight_decay`.
    pub numbers: Vec<(String, f64)>,
}

impl VariableGroup {
    /// Parses `bias: lr=0.1, weight_decay=0`.
    ///
    /// # Errors
    /// If the pattern or a number is malformed, or there are no numbers.
    pub fn parse(text: &str) -> Result<VariableGroup, String> {
        let (pattern, rest) = text.rsplit_once(':').ok_or("expected 'REGEX:key=value,..'")?;
        let numbers = spec::values(rest)?;
        if numbers.is_empty() {
            return Err("a group has no numbers: expected 'REGEX:key=value,..'".to_owned());
        }
        let numbers =
            numbers.into_iter().map(|(key, value)| Ok((key.to_owned(), spec::number(key, &value)?)));
        Ok(VariableGroup { pattern: pattern.parse()?, numbers: numbers.collect::<Result<_, String>>()? })
    }

    pub(super) fn json(&self) -> String {
        let numbers: String =
            self.numbers.iter().map(|(key, value)| format!(", \"{key}\": {value:?}")).collect();
        format!("{{\"pattern\": {}{numbers}}}", super::describe::text(&self.pattern.to_string()))
    }
}
