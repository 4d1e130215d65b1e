//! Operators one by one, with attributes and operands of any kind, and signatures of kernel libraries.
//!
//! Bytes say what is called: each choice takes the next one, and 0 when there is none left. A file of a few
//! bytes is a call of an operator on default attributes.

use std::ffi::CString;
use std::sync::LazyLock;

use befrost::eager::{AttrValue, CoreRuntime, OpAttrs, TensorHandle};
use befrost::library::{TableKernel, check_table};
use befrost::{DType, HostTensor, Runtime, Shape, StringTensor, Value};
use befrost_kernels::Strings;
use befrost_tensor::mem::Malloc;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{OpRow, Type, rows};

/// The bytes that tensors may have at a time.
const MEMORY: usize = 1 << 24;

/// The most calls of a file.
const CALLS: usize = 8;

/// The bytes that say what is called.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    /// A number below `n`, at most 256.
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n.max(1)
    }

    /// Mostly a small number, sometimes one at the ends.
    fn int(&mut self) -> i64 {
        match self.byte() {
            255 => i64::MAX,
            254 => i64::MIN,
            253 => i64::from(i32::MAX),
            252 => i64::from(i32::MIN),
            251 => 1 << 40,
            byte => i64::from(byte as i8),
        }
    }

    fn float(&mut self) -> f64 {
        match self.byte() {
            255 => f64::NAN,
            254 => f64::INFINITY,
            253 => f64::MAX,
            byte => f64::from(byte as i8) / 8.0,
        }
    }

    fn dtype(&mut self) -> DType {
        DType::ALL[self.below(DType::ALL.len())]
    }

    fn ty(&mut self) -> Type {
        match self.below(8) {
            0 => [Type::String, Type::Resource, Type::Variant][self.below(3)],
            1..=3 => Type::Dense(self.dtype()),
            _ => Type::Dense(DType::F32),
        }
    }

    fn shape(&mut self) -> Vec<usize> {
        (0..self.below(5)).map(|_| self.below(4)).collect()
    }

    fn tensor(&mut self, dtype: DType) -> HostTensor {
        let shape = self.shape();
        let n = shape.iter().product::<usize>();
        let wide: Vec<f64> = (0..n).map(|_| self.float()).collect();
        let wide =
            HostTensor::from_vec(shape, wide).unwrap_or_else(|error| panic!("a small tensor: {error}"));
        befrost_tensor::tf::reference::cast(&wide, dtype, &Malloc::shared())
            .unwrap_or_else(|error| panic!("f64 converts to {dtype}: {error}"))
    }

    fn operand(&mut self) -> TensorHandle {
        if self.below(16) == 15 {
            let shape = self.shape();
            let n = shape.iter().product::<usize>();
            let texts: Vec<Vec<u8>> = (0..n).map(|_| vec![b'0' + self.byte() % 75; self.below(4)]).collect();
            let strings =
                Shape::new(&shape).and_then(|shape| StringTensor::new(shape, &texts, &Malloc::shared()));
            let strings = strings.unwrap_or_else(|error| panic!("a small tensor: {error}"));
            return TensorHandle::new(Value::object(Strings(strings)));
        }
        let dtype = match self.below(4) {
            0 => DType::I32,
            1 => self.dtype(),
            _ => DType::F32,
        };
        TensorHandle::from(self.tensor(dtype))
    }

    fn attr(&mut self) -> AttrValue {
        match self.below(12) {
            0 => AttrValue::Bool(self.byte() & 1 != 0),
            1 | 2 => AttrValue::Int(self.dtype(), self.int()),
            3 => AttrValue::Float(DType::F32, self.float()),
            4 => {
                let words = ["SAME", "VALID", "NHWC", "NCHW", "ab,bc->ac", "", "REFLECT", "max", "\u{e9}\0"];
                AttrValue::from(words[self.below(words.len())])
            }
            5 => AttrValue::Type(self.ty()),
            6 | 7 => AttrValue::Ints(DType::I64, (0..self.below(6)).map(|_| self.int()).collect()),
            8 => AttrValue::Floats(DType::F32, (0..self.below(4)).map(|_| self.float()).collect()),
            9 => AttrValue::List((0..self.below(4)).map(|_| AttrValue::Type(self.ty())).collect()),
            10 => {
                let dims = self.shape().into_iter().map(|dim| Some(dim).filter(|&dim| dim > 0)).collect();
                AttrValue::Shape(if self.byte() == 0 {
                    PartialShape::unknown()
                } else {
                    PartialShape::new(dims)
                })
            }
            _ => {
                let dtype = self.dtype();
                AttrValue::Dense(self.tensor(dtype))
            }
        }
    }
}

/// The number of an operator, which does not depend on what others there are (FNV-1a).
fn number(name: &str) -> u16 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = name.as_bytes().iter().fold(0x811c_9dc5, step);
    (hash >> 16) as u16
}

/// The target `eager`: calls of operators are refused, or have results or errors, and a result is of the
/// type and shape that were inferred before the call. Returns whether the last call had results.
pub fn eager(bytes: &[u8]) -> bool {
    static CORE: LazyLock<CoreRuntime> = LazyLock::new(|| {
        let runtime = Runtime::builder().work_queue("s").max_memory(MEMORY).build();
        runtime.unwrap_or_else(|error| panic!("there is no runtime: {error}")).eager()
    });
    static ROWS: LazyLock<Vec<(u16, &'static OpRow)>> = LazyLock::new(|| {
        // Printing is no property.
        let rows = rows().filter(|row| !row.name.starts_with("Print"));
        let mut rows: Vec<(u16, &'static OpRow)> = rows.map(|row| (number(row.name), row)).collect();
        rows.sort_by_key(|&(number, row)| (number, row.name));
        rows
    });
    let mut choices = Choices(bytes);
    let mut handles: Vec<TensorHandle> = Vec::new();
    let mut has_results = false;
    for _ in 0..CALLS {
        if choices.0.is_empty() {
            break;
        }
        let number = u16::from_le_bytes([choices.byte(), choices.byte()]);
        let at = ROWS.partition_point(|&(known, _)| known < number);
        let row = ROWS[at % ROWS.len()].1;
        let signature = row.signature();
        let mut attrs = OpAttrs::new();
        for _ in 0..choices.below(4) {
            let name = match signature.attrs.len() {
                0 => "none",
                n => signature.attrs[choices.below(n)].name,
            };
            attrs.insert(name, choices.attr());
        }
        let n = signature.inputs.len() + [0, 0, 0, 1][choices.below(4)];
        let operands: Vec<TensorHandle> = (0..n)
            .map(|_| match choices.below(4) {
                0 if !handles.is_empty() => handles[choices.below(handles.len())].clone(),
                _ => choices.operand(),
            })
            .collect();
        let Ok(results) = CORE.execute(row.op_name, &operands, &attrs) else {
            has_results = false;
            continue;
        };
        has_results = true;
        for result in results {
            let promised = result.metadata();
            // A value that is no tensor of numbers is an error here only.
            has_results &= result.wait().is_ok();
            assert!(
                promised.is_none() || result.metadata().is_none() || promised == result.metadata(),
                "{}: {promised:?} was said, {:?} came",
                row.name,
                result.metadata()
            );
            handles.push(result);
        }
    }
    has_results
}

/// The target `library`: the name and the signature of a kernel of a library, a line each; or a table of
/// kernels. Returns whether a library could have it.
///
/// ```text
/// table BYTES VERSION N      the numbers of the library; N counts if there are no kernels
/// BYTES FLAGS RUN            the numbers of a kernel, whose name and signature follow: - is a null pointer
/// geo.length
/// f64 f64 -> f64
/// ```
pub fn library(text: &str) -> bool {
    if let Some(table) = text.strip_prefix("table ") {
        return library_table(table);
    }
    let (name, signature) = text.split_once('\n').unwrap_or((text, ""));
    befrost::library::check(name, signature).is_ok()
}

fn library_table(text: &str) -> bool {
    let mut lines = text.lines();
    let numbers = |line: Option<&str>| -> [u32; 3] {
        let mut words = line.unwrap_or_default().split(' ').map(|word| word.parse().unwrap_or(0));
        std::array::from_fn(|_| words.next().unwrap_or(0))
    };
    let c_text = |line: Option<&str>| {
        let text = line.filter(|line| *line != "-")?;
        CString::new(text.replace('\0', " ")).ok()
    };
    let [size, version, n_kernels] = numbers(lines.next());
    let mut kernels = Vec::new();
    while let Some(line) = lines.next() {
        let [size, flags, run] = numbers(Some(line));
        let (name, signature) = (c_text(lines.next()), c_text(lines.next()));
        kernels.push(TableKernel { size, flags, name, signature, has_run: run != 0 });
    }
    let kernels = (!kernels.is_empty()).then_some(kernels);
    check_table(size, version, kernels.as_deref(), n_kernels as usize).is_ok()
}
