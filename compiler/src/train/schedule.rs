//! The learning rate over the updates.
//!
//! `t` is the number of updates made so far. With `warmup=W` the rate is lr (t+1)/W while t < W. It is
//! computed in f64 from the variable that counts updates, so that a resumed run continues it.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::spec::{self, Spec};
use crate::grad::Val;

/// The course of the rate after the warmup.
#[derive(Clone, Debug, Default, PartialEq)]
enum Course {
    #[default]
    Constant,
    /// A factor before the first boundary, between boundaries, and after the last one.
    Steps {
        boundaries: Vec<f64>,
        factors: Vec<f64>,
    },
    Exponential {
        factor: f64,
        every: f64,
        staircase: bool,
    },
    Polynomial {
        end: f64,
        power: f64,
    },
    Cosine {
        end: f64,
    },
}

/// A learning rate schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    course: Course,
    warmup: f64,
    /// The number of updates after which the rate is the final one.
    steps: Option<f64>,
}

/// The schedules with their numbers.
const KINDS: &[(&str, &[&str])] = &[
    ("constant", &[]),
    ("steps", &["boundaries", "factors"]),
    ("exponential", &["factor", "every", "staircase"]),
    ("polynomial", &["final", "power", "steps"]),
    ("cosine", &["final", "steps"]),
];

impl Schedule {
    /// Parses `constant`, `cosine:final=0,steps=1000,warmup=10`.
    ///
    /// # Errors
    /// If there is no such schedule or number, in which case the message lists the known ones, or a number is
    /// out of range.
    pub fn parse(text: &str) -> Result<Schedule, String> {
        let Spec { name, values } = Spec::parse(text)?;
        let found = KINDS.iter().find(|(known, _)| *known == name);
        let &(name, keys) = found.ok_or_else(|| {
            let all: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            format!("there is no schedule '{name}': there are {}", all.join(", "))
        })?;
        if let Some((key, _)) = values.iter().find(|(key, _)| *key != "warmup" && !keys.contains(key)) {
            let all = keys.iter().copied().chain(["warmup"]).collect::<Vec<_>>().join(", ");
            return Err(format!("schedule '{name}' has no '{key}': it has {all}"));
        }
        let text = |key: &str| values.iter().find(|(known, _)| *known == key).map(|(_, value)| &value[..]);
        let number = |key: &str| text(key).map(|value| spec::number(key, value)).transpose();
        let needed = |key: &str| number(key)?.ok_or_else(|| format!("schedule '{name}' needs {key}=.."));
        let list = |key: &str| match text(key) {
            Some(value) => spec::numbers(key, value),
            None => Err(format!("schedule '{name}' needs {key}=..")),
        };
        let count = |key: &str| -> Result<Option<f64>, String> {
            match number(key)? {
                Some(number) if number < 0.0 || number.fract() != 0.0 => {
                    Err(format!("{key}={number} is no number of updates"))
                }
                number => Ok(number),
            }
        };
        let course = match name {
            "steps" => {
                let (boundaries, mut factors) = (list("boundaries")?, list("factors")?);
                if factors.len() == boundaries.len() {
                    // Before the first boundary the factor is 1.
                    factors.insert(0, 1.0);
                }
                if factors.len() != boundaries.len() + 1 || !boundaries.is_sorted() {
                    return Err(format!(
                        "schedule 'steps' has {} factors for {} boundaries: expected rising boundaries, and a \
                         factor for each part between them",
                        factors.len(),
                        boundaries.len()
                    ));
                }
                Course::Steps { boundaries, factors }
            }
            "exponential" => {
                let every = needed("every")?;
                if every <= 0.0 {
                    return Err(format!("every={every} is no number of updates"));
                }
                let staircase = number("staircase")?.is_some_and(|flag| flag != 0.0);
                Course::Exponential { factor: needed("factor")?, every, staircase }
            }
            "polynomial" => Course::Polynomial {
                end: number("final")?.unwrap_or(0.0),
                power: number("power")?.unwrap_or(1.0),
            },
            "cosine" => Course::Cosine { end: number("final")?.unwrap_or(0.0) },
            _ => Course::Constant,
        };
        Ok(Schedule { course, warmup: count("warmup")?.unwrap_or(0.0), steps: count("steps")? })
    }

    /// The schedule of a run of this many updates.
    pub(super) fn checked(&self, steps: Option<u64>) -> Result<Schedule, String> {
        let steps = self.steps.or(steps.map(|steps| steps as f64));
        let ends = matches!(self.course, Course::Polynomial { .. } | Course::Cosine { .. });
        if ends && steps.is_none() {
            return Err(format!("schedule '{}' needs steps=.., or the length of the run", self.name()));
        }
        Ok(Schedule { steps, ..self.clone() })
    }

    fn name(&self) -> &'static str {
        match self.course {
            Course::Constant => "constant",
            Course::Steps { .. } => "steps",
            Course::Exponential { .. } => "exponential",
            Course::Polynomial { .. } => "polynomial",
            Course::Cosine { .. } => "cosine",
        }
    }

    pub(super) fn json(&self) -> String {
        let list = |numbers: &[f64]| numbers.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ");
        let own = match &self.course {
            Course::Constant => String::new(),
            Course::Steps { boundaries, factors } => {
                format!(", \"boundaries\": [{}], \"factors\": [{}]", list(boundaries), list(factors))
            }
            Course::Exponential { factor, every, staircase } => {
                format!(", \"factor\": {factor:?}, \"every\": {every:?}, \"staircase\": {staircase}")
            }
            Course::Polynomial { end, power } => format!(", \"final\": {end:?}, \"power\": {power:?}"),
            Course::Cosine { end } => format!(", \"final\": {end:?}"),
        };
        let steps = self.steps.map_or(String::new(), |steps| format!(", \"steps\": {steps}"));
        format!("{{\"name\": \"{}\"{own}{steps}, \"warmup\": {}}}", self.name(), self.warmup)
    }

    /// The rate of update number `t`, an f64, for the base rate `lr`.
    pub(super) fn rate<'g>(&self, lr: f64, t: Val<'g>) -> Val<'g> {
        let c = |number: f64| t.number(number);
        let steps = self.steps.unwrap_or(0.0);
        // The progress after the warmup, from 0 to 1.
        let progress = || {
            let length = steps - self.warmup;
            if length <= 0.0 {
                return c(1.0);
            }
            ((t - self.warmup) / length).bin(Op::Minimum, c(1.0))
        };
        let rate = match &self.course {
            Course::Constant => c(lr),
            Course::Steps { boundaries, factors } => {
                let first = c(lr * factors[0]);
                let parts = boundaries.iter().zip(&factors[1..]);
                parts.fold(first, |before, (&boundary, &factor)| {
                    t.bin(Op::GreaterEqual, c(boundary)).select(c(lr * factor), before)
                })
            }
            &Course::Exponential { factor, every, staircase } => {
                let power = t / every;
                let power = if staircase { power.un(Op::Floor) } else { power };
                c(factor).bin(Op::Pow, power) * lr
            }
            &Course::Polynomial { end, power } => {
                (1.0 - progress()).bin(Op::Pow, c(power)) * (lr - end) + end
            }
            &Course::Cosine { end } => {
                let wave = (progress() * std::f64::consts::PI).un(Op::Cos);
                (wave + 1.0) * ((lr - end) / 2.0) + end
            }
        };
        if self.warmup == 0.0 {
            return rate;
        }
        let rising = (t + 1.0) * (lr / self.warmup);
        t.bin(Op::Less, c(self.warmup)).select(rising, rate)
    }

    /// True if the rate depends on the number of updates.
    pub(super) fn counts(&self) -> bool {
        self.course != Course::Constant || self.warmup != 0.0
    }
}

/// The type of rates.
pub(super) const RATE: DType = DType::F64;
