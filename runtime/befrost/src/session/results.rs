//! The values that a run computed.

use std::ops::Index;
use std::sync::Arc;

use super::canonical;
use crate::datum::Datum;

/// The fetched values, by the names or in the order in which they were asked for.
#[derive(Clone, Debug)]
pub struct Results {
    pub(super) names: Arc<[String]>,
    pub(super) values: Vec<Option<Datum>>,
}

impl Results {
    /// The value of a fetch; `None` if it was not fetched, or is an operation without outputs.
    pub fn get(&self, name: &str) -> Option<&Datum> {
        let at = self.names.iter().position(|known| canonical(known) == canonical(name))?;
        self.values.get(at)?.as_ref()
    }

    /// The number of fetches.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if nothing was fetched.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of the fetches, with their references.
    pub fn into_values(self) -> Vec<Option<Datum>> {
        self.values
    }

    /// The values of the fetches, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Datum>> {
        self.values.iter().map(Option::as_ref)
    }
}

impl Index<&str> for Results {
    type Output = Datum;

    /// The value of a fetch.
    ///
    /// # Panics
    /// If it was not fetched.
    fn index(&self, name: &str) -> &Datum {
        match self.get(name) {
            Some(value) => value,
            None => panic!("'{name}' was not fetched; there are: {}", self.names.join(", ")),
        }
    }
}

impl Index<usize> for Results {
    type Output = Datum;

    /// The value of a fetch by its number.
    ///
    /// # Panics
    /// If there is none.
    fn index(&self, i: usize) -> &Datum {
        match self.values.get(i).and_then(Option::as_ref) {
            Some(value) => value,
            None => panic!("fetch {i} has no value; {} were asked for", self.len()),
        }
    }
}
