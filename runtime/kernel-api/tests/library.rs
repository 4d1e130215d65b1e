//! A library of kernels that links the interface only, registered and run by the host.
#![forbid(unsafe_code)]

use std::sync::Arc;

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{DType, FunctionKind};
use befrost_host::queue::from_spec;
use befrost_host::{Program, call};
use befrost_kernel_api::{ExecContext, Registry, Request, Value};

/// The library. It would be a crate of its own.
mod geo {
    use befrost_kernel_api::kernel::{Attr, Deferred};
    use befrost_kernel_api::{KernelError, Registry, kernel};

    fn area(width: i32, length: i32) -> Result<i32, KernelError> {
        if width < 0 || length < 0 {
            return Err(KernelError::invalid("a side is negative"));
        }
        width.checked_mul(length).ok_or_else(|| KernelError::invalid("the area is too large"))
    }

    pub(super) fn kernels(registry: &mut Registry) {
        registry.add(kernel!("geo.area", area));
        registry.add(kernel!("geo.rain", |area: i32, millimetres: Attr<i32>| Deferred::new(move |_| {
            area.saturating_mul(millimetres.0)
        })));
    }
}

/// `main(width, length)` returns the area, and the litres of 12 millimetres of rain on it.
fn program() -> Arc<Program> {
    let mut writer = Writer::new();
    let (int, unnamed) = (writer.ty("i32"), writer.string(""));
    let millimetres = [writer.attr_int(int, Some(DType::I32), 12)];
    let mut main = FunctionBuilder::new(writer.string("main"), FunctionKind::Async);
    let (sides, results) = ([main.arg(int, unnamed, None), main.arg(int, unnamed, None)], [int]);
    let code = writer.kernel_name("geo.area");
    let area =
        main.kernel(&KernelSpec { code, operands: &sides, results: &results, ..KernelSpec::default() });
    let code = writer.kernel_name("geo.rain");
    let rain = main.kernel(&KernelSpec {
        code,
        operands: &[area],
        attrs: &millimetres,
        results: &results,
        ..KernelSpec::default()
    });
    main.result(area, unnamed);
    main.result(rain, unnamed);
    writer.add(main);
    let bytes = writer.finish().expect("the program fits");
    Program::from_bytes(&bytes, &Registry::new().with(geo::kernels)).expect("the program is valid")
}

fn run(width: i32, length: i32, queue: &str) -> [String; 2] {
    let program = program();
    let main = program.find("main").expect("the program has a main");
    let request = Request::new(from_spec(queue).expect("the queue is known"));
    let context = ExecContext::new(Arc::new(request));
    let arguments = vec![Value::I32(width), Value::I32(length)];
    let results = call(&program, main, arguments, &context).expect("the arguments fit");
    <[Value; 2]>::try_from(results).expect("there are two results").map(|value| value.to_string())
}

#[test]
fn kernels_of_a_library_run_on_the_host() {
    for queue in ["s", "seeded:3", "mstd:2"] {
        assert_eq!(run(30, 20, queue), ["600", "7200"]);
        let error = "<<error: a side is negative>>";
        assert_eq!(run(-1, 20, queue), [error, error]);
    }
}
