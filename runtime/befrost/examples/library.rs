//! A kernel library: an op of a dialect of its own, an operator with a shape function, an attribute and two
//! element types, one that another thread finishes, and one that is wrong. `bef-exec program.mlir --library
//! target/debug/examples/liblibrary.so` knows them.

use std::ffi::CStr;

use befrost::library::{Frame, Later, LibraryKernel, UseAttrs, UseShapes};
use befrost::{DType, ErrorCode, KernelError};

/// The length of a vector.
struct Length;

impl LibraryKernel for Length {
    const NAME: &'static CStr = c"plane.length";
    const SIGNATURE: &'static CStr = c"f64 f64 -> f64";
    const SUMMARY: &'static CStr = c"the length of a vector";

    fn prepare(_: &UseAttrs<'_>) -> Result<Length, String> {
        Ok(Length)
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        let (x, y) = (frame.operand(0)?.elements::<f64>()?, frame.operand(1)?.elements::<f64>()?);
        frame.result(0, &[])?[0] = x[0].hypot(y[0]);
        Ok(())
    }
}

/// Elements times a number.
struct Scaled {
    by: f64,
}

impl LibraryKernel for Scaled {
    const NAME: &'static CStr = c"tf.PlaneScale";
    const SIGNATURE: &'static CStr = c"x:T -> y:T; T:{float,double} by:float=1";
    const SUMMARY: &'static CStr = c"Elements times a number.";

    fn prepare(attrs: &UseAttrs<'_>) -> Result<Scaled, String> {
        let by = attrs.float("by").ok_or("'by' is missing")?;
        if by < 0.0 {
            return Err(format!("'by' is {by}, which is negative"));
        }
        Ok(Scaled { by })
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        let x = frame.operand(0)?;
        if x.dtype == Some(DType::F64) {
            for (y, x) in frame.result::<f64>(0, x.dims)?.iter_mut().zip(x.elements::<f64>()?) {
                *y = x * self.by;
            }
        } else {
            for (y, x) in frame.result::<f32>(0, x.dims)?.iter_mut().zip(x.elements::<f32>()?) {
                *y = x * self.by as f32;
            }
        }
        Ok(())
    }

    fn infer(_: &UseAttrs<'_>, shapes: &mut UseShapes<'_>) -> Result<(), String> {
        match shapes.operand(0) {
            Some(dims) => shapes.set(0, dims),
            None => Ok(()),
        }
    }
}

/// Twice a number, by another thread. Negative numbers fail, 0 is never finished, and 1 fails after all.
struct Twice;

impl Twice {
    fn end(mut later: Later) -> Result<(), KernelError> {
        let number = later.operand(0)?.elements::<i32>()?[0];
        match number {
            0 => drop(later),
            ..0 => later.fail(&KernelError::new(ErrorCode::OutOfRange, format!("{number} is negative"))),
            _ => {
                later.result(0, &[])?[0] = 2 * number;
                later.finish();
            }
        }
        Ok(())
    }
}

impl LibraryKernel for Twice {
    const NAME: &'static CStr = c"plane.twice";
    const SIGNATURE: &'static CStr = c"i32 -> i32";
    const SUMMARY: &'static CStr = c"twice a number, by another thread";

    fn prepare(_: &UseAttrs<'_>) -> Result<Twice, String> {
        Ok(Twice)
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        let later = frame.defer()?;
        if frame.operand(0)?.elements::<i32>()? == [1] {
            // The thread ends it, with this error.
            std::thread::spawn(move || Twice::end(later));
            return Err(KernelError::new(ErrorCode::Unavailable, "1 is too small"));
        }
        std::thread::spawn(move || Twice::end(later));
        Ok(())
    }
}

/// Fails as its operand says.
struct Wrong;

impl LibraryKernel for Wrong {
    const NAME: &'static CStr = c"tf.PlaneWrong";
    const SIGNATURE: &'static CStr = c"how:int32 -> y:float";
    const IS_PURE: bool = false;

    fn prepare(_: &UseAttrs<'_>) -> Result<Wrong, String> {
        Ok(Wrong)
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        match frame.operand(0)?.elements::<i32>()? {
            [0] => Err(KernelError::new(ErrorCode::OutOfRange, "as it was told")),
            [1] => panic!("a mistake"),
            [2] => frame.operand(0)?.elements::<f32>().map(drop),
            [3] => frame.operand(1).map(drop),
            [4] => frame.result::<f32>(1, &[]).map(drop),
            [5] => {
                frame.result::<f32>(0, &[1])?;
                frame.result::<f32>(0, &[1]).map(drop)
            }
            [6] => frame.result::<f32>(0, &[-1]).map(drop),
            [7] => frame.forward(0, 1),
            _ => Ok(()),
        }
    }
}

befrost::library!(c"plane": Length, Scaled, Twice, Wrong);
