//! The header: a Python dictionary literal with the keys `descr`, `fortran_order` and `shape`, each once, in
//! any order.
//!
//! Only literals that occur in practice are accepted: strings in either quotes without escapes, `True` and
//! `False`, tuples of decimal numbers (with Python 2's `L`). Any other `descr`, such as a list, is a record
//! type and refused.

use crate::npy::NpyError;
use crate::npy::strings::Characters;
use crate::{DType, Shape};

/// The longest `descr` of a string type.
const MAX_STRING_DESCR: usize = 24;

/// The layout of the elements in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) element: NpyElement,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Shape,
}

/// The type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NpyElement {
    Number {
        dtype: DType,
        big_endian: bool,
    },
    /// Strings of this many bytes.
    String {
        kind: Characters,
        size: usize,
    },
}

impl NpyElement {
    /// The size of an element in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            NpyElement::Number { dtype, .. } => dtype.size(),
            NpyElement::String { size, .. } => *size,
        }
    }
}

/// Parses the header, which begins at byte `at` of the file.
pub(crate) fn parse(text: &[u8], at: usize) -> Result<Header, NpyError> {
    let mut cursor = Cursor { text, pos: 0, file_at: at };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    cursor.expect(b'{', "expected `{`")?;
    while !cursor.accept(b'}') {
        let key_at = cursor.pos;
        let key = cursor.string()?;
        cursor.expect(b':', "expected `:`")?;
        let is_new = match key {
            "descr" => descr.replace(cursor.descr()?).is_none(),
            "fortran_order" => fortran_order.replace(cursor.truth_value()?).is_none(),
            "shape" => shape.replace(cursor.shape()?).is_none(),
            _ => return Err(cursor.error_at(key_at, "unknown key")),
        };
        if !is_new {
            return Err(cursor.error_at(key_at, "the key occurs twice"));
        }
        if !cursor.accept(b',') {
            cursor.expect(b'}', "expected `,` or `}`")?;
            break;
        }
    }
    cursor.skip_blanks();
    if cursor.pos != text.len() {
        return Err(cursor.error("something follows the dictionary"));
    }
    let missing = |problem| NpyError::Header { at, problem };
    let element = descr.ok_or_else(|| missing("`descr` is missing"))?;
    let fortran_order = fortran_order.ok_or_else(|| missing("`fortran_order` is missing"))?;
    let shape = shape.ok_or_else(|| missing("`shape` is missing"))?;
    Ok(Header { element, fortran_order, shape })
}

/// The element type of a `descr`: byte order, kind, size in bytes.
fn element_type(descr: &str) -> Result<NpyElement, NpyError> {
    let refuse = |problem| Err(NpyError::DType { descr: descr.chars().take(40).collect(), problem });
    let (order, kind) = match descr.as_bytes().first() {
        Some(b'<' | b'>' | b'|' | b'=') => descr.split_at(1),
        _ => ("=", descr),
    };
    let native = cfg!(target_endian = "big");
    let big_endian = match order {
        "=" | "|" => native,
        order => order == ">",
    };
    let string = |kind: Characters, length: &str, unit: usize| {
        let length = length.parse::<usize>().ok().filter(|&n| n > 0).and_then(|n| n.checked_mul(unit));
        let size =
            length.ok_or(NpyError::DType { descr: descr.to_owned(), problem: "not a length of strings" })?;
        Ok(NpyElement::String { kind, size })
    };
    if descr.len() <= MAX_STRING_DESCR {
        if let Some(length) = kind.strip_prefix(['S', 'a']) {
            return string(Characters::Bytes, length, 1);
        }
        if let Some(length) = kind.strip_prefix('U') {
            return string(Characters::CodePoints { big_endian }, length, 4);
        }
    }
    let dtype = match kind {
        "b1" | "?" => DType::I1,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::UI8,
        "u2" => DType::UI16,
        "u4" => DType::UI32,
        "u8" => DType::UI64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::Complex64,
        "c16" => DType::Complex128,
        _ => {
            return refuse(match kind.as_bytes().first() {
                Some(b'O') => "arrays of Python objects are pickles, which are never loaded",
                Some(b'M' | b'm') => "dates and times are not supported",
                Some(b'V') => "records are not supported",
                _ => "unknown element type",
            });
        }
    };
    match order {
        "|" if dtype.size() > 1 => refuse("the byte order is missing"),
        _ => Ok(NpyElement::Number { dtype, big_endian }),
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    pos: usize,
    file_at: usize,
}

impl<'a> Cursor<'a> {
    fn error(&self, problem: &'static str) -> NpyError {
        self.error_at(self.pos, problem)
    }

    fn error_at(&self, pos: usize, problem: &'static str) -> NpyError {
        NpyError::Header { at: self.file_at + pos, problem }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        self.pos += self.rest().iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.rest().first() == Some(&byte);
        self.pos += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, problem: &'static str) -> Result<(), NpyError> {
        if self.accept(byte) { Ok(()) } else { Err(self.error(problem)) }
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        self.skip_blanks();
        let quote = match self.rest() {
            [quote @ (b'\'' | b'"'), ..] => *quote,
            _ => return Err(self.error("expected a string")),
        };
        let start = self.pos + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let len =
            rest.iter().position(|&b| b == quote).ok_or_else(|| self.error("the string does not end"))?;
        let text = std::str::from_utf8(&rest[..len]).map_err(|_| self.error("the string is not UTF-8"))?;
        self.pos = start + len + 1;
        Ok(text)
    }

    fn descr(&mut self) -> Result<NpyElement, NpyError> {
        self.skip_blanks();
        if matches!(self.rest().first(), Some(b'[' | b'(')) {
            let problem = "records are not supported";
            return Err(NpyError::DType { descr: "[...]".to_owned(), problem });
        }
        element_type(self.string()?)
    }

    fn truth_value(&mut self) -> Result<bool, NpyError> {
        self.skip_blanks();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.rest().starts_with(word) {
                self.pos += word.len();
                return Ok(value);
            }
        }
        Err(self.error("expected `True` or `False`"))
    }

    fn shape(&mut self) -> Result<Shape, NpyError> {
        self.expect(b'(', "expected `(`")?;
        let mut dims = Vec::new(); // as long as the header at most
        while !self.accept(b')') {
            dims.push(self.number()?);
            self.accept(b'L');
            if !self.accept(b',') {
                self.expect(b')', "expected `,` or `)`")?;
                break;
            }
        }
        Ok(Shape::new(&dims)?)
    }

    fn number(&mut self) -> Result<usize, NpyError> {
        self.skip_blanks();
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.error("expected a dimension"));
        }
        let number = self.rest()[..digits]
            .iter()
            .try_fold(0usize, |n, &digit| n.checked_mul(10)?.checked_add(usize::from(digit - b'0')))
            .ok_or_else(|| self.error("the dimension is too large"))?;
        self.pos += digits;
        Ok(number)
    }
}
