//! The file `checkpoint` of a folder: a CheckpointState in protobuf's text form.
//!
//! ```text
//! model_checkpoint_path: "model-100"
//! all_model_checkpoint_paths: "model-50"
//! all_model_checkpoint_paths: "model-100"
//! ```
//!
//! The file is untrusted: its checkpoints may be elsewhere, or deleted. Since folders are moved, a reader
//! looks for them in the file's own folder first, by [`CheckpointState::beside`].

/// The contents of a `checkpoint` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointState {
    /// The latest checkpoint.
    pub latest: String,
    /// All kept checkpoints, the oldest first.
    pub all: Vec<String>,
}

/// The largest accepted file in bytes.
const MAX_SIZE: usize = 1 << 24;

impl CheckpointState {
    /// Reads the file. Fields with other names are skipped.
    ///
    /// # Errors
    /// If it is malformed; the error names the line.
    pub fn parse(bytes: &[u8]) -> Result<CheckpointState, String> {
        if bytes.len() > MAX_SIZE {
            return Err(format!("it has {} bytes, more than {MAX_SIZE}", bytes.len()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
        let mut state = CheckpointState::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let malformed = |what: &str| format!("line {}: {what}", at + 1);
            let (key, value) = line.split_once(':').ok_or_else(|| malformed("expected `field: value`"))?;
            let value = value.trim();
            let path = || unquoted(value).ok_or_else(|| malformed("expected a text in quotes"));
            match key.trim() {
                "model_checkpoint_path" => state.latest = path()?,
                "all_model_checkpoint_paths" => state.all.push(path()?),
                _ => {}
            }
        }
        if state.latest.is_empty() {
            return Err("it names no checkpoint (model_checkpoint_path)".to_owned());
        }
        Ok(state)
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = format!("model_checkpoint_path: {}\n", quoted(&self.latest));
        for path in &self.all {
            text += &format!("all_model_checkpoint_paths: {}\n", quoted(path));
        }
        text
    }

    /// The last component of a checkpoint's path: the name to look for in the file's own folder.
    pub fn beside(path: &str) -> &str {
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }
}

/// A text without its quotes.
fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|&c| c == '"' || c == '\'')?;
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix(quote)?.strip_suffix(quote)?.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            if byte == quote as u8 {
                return None;
            }
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            first @ b'0'..=b'7' => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    match rest.peek() {
                        Some(&digit @ b'0'..=b'7') => value = value * 8 + u32::from(digit - b'0'),
                        _ => break,
                    }
                    rest.next();
                }
                u8::try_from(value).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if c < ' ' => quoted += &format!("\\{:03o}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_state_is_read_back() {
        let odd = "a\"b\\c\nd\u{1}e/\u{e9}";
        let state = CheckpointState { latest: odd.to_owned(), all: vec!["m-1".to_owned(), odd.to_owned()] };
        assert_eq!(CheckpointState::parse(state.text().as_bytes()), Ok(state));
    }

    #[test]
    fn malformed_lines_are_refused_with_their_numbers() {
        let why = |text: &[u8]| CheckpointState::parse(text).unwrap_err();
        assert_eq!(why(b"model_checkpoint_path: \"m\"\nx"), "line 2: expected `field: value`");
        assert_eq!(why(b"model_checkpoint_path: m"), "line 1: expected a text in quotes");
        assert_eq!(why(b"model_checkpoint_path: \"\\777\""), "line 1: expected a text in quotes");
        assert_eq!(why(b"model_checkpoint_path: \""), "line 1: expected a text in quotes");
        assert_eq!(why(b""), "it names no checkpoint (model_checkpoint_path)");
        assert_eq!(why(b"\xff"), "it is no text");
    }

    #[test]
    fn paths_of_other_machines_have_a_name_beside() {
        assert_eq!(CheckpointState::beside("/models/old/model-60"), "model-60");
        assert_eq!(CheckpointState::beside("C:\\models\\model-60"), "model-60");
        assert_eq!(CheckpointState::beside("model-60"), "model-60");
    }
}
