//! The protobuf encoding, restricted to the field types of a bundle's index, of examples and of tensors, and
//! varints.

/// The fields of a message, with their numbers.
#[derive(Debug)]
pub struct Message<'a> {
    rest: &'a [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireValue<'a> {
    /// A number of up to 64 bits.
    Varint(u64),
    /// A number of 8 bytes.
    Fixed64(u64),
    /// Bytes, a message, or a list of packed numbers.
    Bytes(&'a [u8]),
    /// A number of 4 bytes.
    Fixed32(u32),
}

impl<'a> Message<'a> {
    /// The message in these bytes.
    pub fn new(bytes: &'a [u8]) -> Message<'a> {
        Message { rest: bytes }
    }

    fn field(&mut self) -> Option<(u64, WireValue<'a>)> {
        let tag = varint(&mut self.rest)?;
        let value = match tag & 7 {
            0 => WireValue::Varint(varint(&mut self.rest)?),
            1 => WireValue::Fixed64(fixed64(&mut self.rest)?),
            2 => {
                let n = usize::try_from(varint(&mut self.rest)?).ok()?;
                WireValue::Bytes(take(&mut self.rest, n)?)
            }
            5 => WireValue::Fixed32(fixed32(&mut self.rest)?),
            _ => return None,
        };
        Some((tag >> 3, value))
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = Result<(u64, WireValue<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        Some(self.field().ok_or_else(|| {
            self.rest = &[];
            "its description is no valid message".to_owned()
        }))
    }
}

/// Splits off the first `n` bytes.
pub(super) fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(first)
}

/// Splits off a little-endian number of 4 bytes.
pub fn fixed32(bytes: &mut &[u8]) -> Option<u32> {
    let first = take(bytes, 4)?;
    first.try_into().ok().map(u32::from_le_bytes)
}

/// Splits off a little-endian number of 8 bytes.
pub fn fixed64(bytes: &mut &[u8]) -> Option<u64> {
    let first = take(bytes, 8)?;
    first.try_into().ok().map(u64::from_le_bytes)
}

/// Splits off a varint.
pub fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let n = 1 + bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let digits = take(bytes, n)?;
    if n == 10 && digits[9] > 1 {
        return None;
    }
    Some(digits.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
}

/// Appends a varint.
pub fn push_varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Appends a varint field. A value of 0 is left out, since it is the default.
pub fn push_number(to: &mut Vec<u8>, field: u64, value: u64) {
    if value != 0 {
        push_varint(to, field << 3);
        push_varint(to, value);
    }
}

/// Appends a field of bytes or of a message.
pub fn push_bytes(to: &mut Vec<u8>, field: u64, value: &[u8]) {
    push_varint(to, field << 3 | 2);
    push_varint(to, value.len() as u64);
    to.extend_from_slice(value);
}

/// Appends a field with a number of 4 bytes.
pub(super) fn push_fixed32(to: &mut Vec<u8>, field: u64, value: u32) {
    push_varint(to, field << 3 | 5);
    to.extend(value.to_le_bytes());
}
