//! `Core`: operators through a handler of the eager core's, which logs or records them.

use std::sync::Arc;

use befrost::eager::{CoreRuntime, LoggingOpHandler, RecordingOpHandler, TensorHandle};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::eager::{self, EagerOp};
use crate::{failure, tensor};

/// A core runtime whose operators go through a handler.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct Core {
    core: CoreRuntime,
    recording: Option<Arc<RecordingOpHandler>>,
}

/// A recorded operator: its name, its attributes as text, its operands and its results.
type PyRecord<'py> = (String, String, Vec<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>);

#[pymethods]
impl Core {
    /// A core with the handler `cpu`, `logging` or `recording`.
    #[new]
    fn new(handler: &str) -> PyResult<Core> {
        let core = CoreRuntime::new(eager::core()?.context().clone());
        let cpu = || core.handler("cpu").ok_or_else(|| failure::refused("there is no handler 'cpu'"));
        let mut recording = None;
        match handler {
            "cpu" => {}
            "logging" => {
                let logging = LoggingOpHandler::new(cpu()?, true);
                let logging = logging.map_err(|error| failure::refused(error.to_string()))?;
                core.register("logging", Arc::new(logging));
            }
            "recording" => {
                let made = Arc::new(RecordingOpHandler::new(cpu()?));
                core.register("recording", made.clone());
                recording = Some(made);
            }
            other => {
                let message = format!("there is no handler '{other}'; there are cpu, logging, recording");
                return Err(failure::refused(message));
            }
        }
        let core = core.with_handler(handler).map_err(|error| failure::of(&error))?;
        Ok(Core { core, recording })
    }

    /// An operator with attributes.
    fn op(&self, name: &str, attrs: Option<&Bound<'_, PyDict>>) -> PyResult<EagerOp> {
        EagerOp::of(&self.core, name, attrs)
    }

    /// Takes the operators that were recorded since the last call.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Vec<PyRecord<'py>>> {
        let recorded = self.recording.as_ref().map(|recording| recording.take()).unwrap_or_default();
        let values = |handles: &[TensorHandle]| {
            let values = handles.iter().map(|handle| {
                let datum = eager::waited(handle).map_err(|error| failure::of(&error))?;
                tensor::result(py, datum.into_value(), true)
            });
            values.collect::<PyResult<Vec<_>>>()
        };
        let records = recorded.iter().map(|record| {
            let attrs = record.attrs.to_string();
            Ok((record.name.to_string(), attrs, values(&record.args)?, values(&record.results)?))
        });
        records.collect()
    }
}
