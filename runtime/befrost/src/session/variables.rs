//! The variables of sessions, models and functions.

use std::fmt;

use befrost_kernel_api::context::{ResourceName, Resources};
use befrost_kernel_api::{Error, ErrorCode, KernelError};
use befrost_kernels::{assign_variable_values, remove_variable, variable_values};
use befrost_tensor::HostTensor;

use super::refusal::{near, refused};

/// The variables of a session.
#[derive(Clone)]
pub struct Variables {
    resources: Resources,
}

impl Variables {
    /// Those in `resources`.
    pub fn of(resources: &Resources) -> Variables {
        Variables { resources: resources.clone() }
    }

    /// The resources that they are in, which other sessions may share.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The names of those that have values.
    ///
    /// # Errors
    /// If an update panicked.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.snapshot()?.into_iter().map(|(name, _)| name).collect())
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// If there is none of this name, or it has no value.
    pub fn get(&self, name: &str) -> Result<HostTensor, Error> {
        let all = self.snapshot()?;
        let found = all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        found.ok_or_else(|| {
            let near = near(name, all.iter().map(|(known, _)| known.as_str()));
            refused(ErrorCode::NotFound, format!("there is no variable '{name}' that has a value{near}"))
        })
    }

    /// Gives a variable another value. What is held of the old one does not change.
    ///
    /// # Errors
    /// If there is none of this name, or the value is of another type or shape.
    pub fn set(&self, name: &str, value: HostTensor) -> Result<(), Error> {
        self.restore([(name.to_owned(), value)])
    }

    /// Removes a variable. Returns whether it had a value.
    pub fn remove(&self, name: &str) -> bool {
        let all = variable_values(&self.resources).unwrap_or_default();
        let known = all.into_iter().map(|(known, _)| known).find(|known| known.name() == name);
        remove_variable(&self.resources, &known.unwrap_or_else(|| ResourceName::from(name)))
    }

    /// The values of all variables at one moment: no update is partially visible.
    ///
    /// # Errors
    /// If an update panicked.
    pub fn snapshot(&self) -> Result<Vec<(String, HostTensor)>, Error> {
        let values = variable_values(&self.resources).map_err(failed)?;
        Ok(values.into_iter().map(|(name, value)| (name.name().to_owned(), value)).collect())
    }

    /// Gives variables the values of a snapshot, all at once, or after an error none.
    ///
    /// # Errors
    /// As [`Variables::set`].
    pub fn restore(&self, values: impl IntoIterator<Item = (String, HostTensor)>) -> Result<(), Error> {
        let all = variable_values(&self.resources).map_err(failed)?;
        let named = values.into_iter().map(|(name, value)| {
            let known = all.iter().find(|(known, _)| known.name() == name).map(|(known, _)| known.clone());
            let missing = || {
                let near = near(&name, all.iter().map(|(known, _)| known.name()));
                refused(ErrorCode::NotFound, format!("there is no variable '{name}'{near}"))
            };
            Ok((known.ok_or_else(missing)?, value))
        });
        assign_variable_values(&self.resources, named.collect::<Result<_, Error>>()?).map_err(failed)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names().unwrap_or_default()).finish()
    }
}

pub(super) fn failed(error: KernelError) -> Error {
    Error::new(error.code(), error.to_string(), Vec::new())
}
