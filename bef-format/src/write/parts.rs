//! The bytes of a file, in parts. Some parts are made while the file is written.
//!
//! ```text
//! threads ──pieces, a few ahead──▶ ┐
//! parts in memory ─────────────────┴─▶ checksums ──▶ sink, in order ──▶ the head: header and directory
//! ```
//!
//! The head comes first in the file and holds the checksums of all sections, so it is known last. In a file
//! it is written at the end. For a sink that cannot seek, the parts are made twice: for the checksums, then
//! for the sink. In both cases only a few pieces are in memory at a time.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use xxhash_rust::xxh3::Xxh3;

use crate::AlignedBytes;
use crate::layout::{Header, PAYLOAD_ALIGN, SectionRec};

/// The length of the pieces of [`Pieces`], but for the last one.
pub const PIECE: usize = 1 << 20;

/// Maximum number of finished pieces of a thread that wait to be written.
const AHEAD: usize = 1;
/// Maximum number of threads: more would not be faster than the writing thread, and would hold more pieces in
/// memory.
const MAX_THREADS: usize = 8;

/// Bytes that are made while a file is written, in pieces, in any order and on any threads.
pub trait Pieces: Send + Sync {
    /// The number of bytes.
    fn n_bytes(&self) -> usize;

    /// Writes the piece from `start` on, a multiple of [`PIECE`], to `piece`, whose address is a multiple of
    /// 64.
    fn make(&self, start: usize, piece: &mut [u8]);
}

/// Bytes of a file.
pub(super) enum Part {
    /// Owned by their table or shared with the caller.
    Bytes(Box<dyn AsRef<[u8]>>),
    Pieces(Arc<dyn Pieces>),
}

impl Part {
    pub(super) fn n_bytes(&self) -> usize {
        match self {
            Part::Bytes(bytes) => (**bytes).as_ref().len(),
            Part::Pieces(pieces) => pieces.n_bytes(),
        }
    }
}

/// A section, with the zeros in front of it.
pub(super) struct Section {
    pub(super) n_zeros: usize,
    /// Its entry in the directory, without its checksum.
    pub(super) entry: SectionRec,
    pub(super) parts: Vec<Part>,
}

/// The bytes of a file: the writer's tables and the large tensors passed to it, none of them copied.
pub struct Parts {
    /// Without its checksum.
    pub(super) header: Header,
    pub(super) sections: Vec<Section>,
}

impl Parts {
    /// The number of bytes.
    pub fn n_bytes(&self) -> usize {
        self.header.file_len as usize
    }

    /// All parts concatenated.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.n_bytes());
        bytes.resize(self.head_len(), 0);
        // The sink has no errors.
        let head = self.stream(&mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        });
        bytes[..self.head_len()].copy_from_slice(&head.unwrap_or_default());
        bytes
    }

    /// Writes them to a new file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to_file(&self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let start = out.stream_position()?;
        out.write_all(&vec![0; self.head_len()])?;
        let head = self.stream(&mut |part| out.write_all(part))?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(&head)
    }

    /// Writes them one after the other.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_in_order(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.stream(&mut |_| Ok(()))?;
        out.write_all(&head)?;
        self.stream(&mut |part| out.write_all(part))?;
        Ok(())
    }

    fn head_len(&self) -> usize {
        size_of::<Header>() + self.sections.len() * size_of::<SectionRec>()
    }

    /// Passes all bytes after the head to `sink`. Returns the head.
    fn stream(&self, sink: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let parts = self.sections.iter().flat_map(|section| &section.parts);
        let pieces = parts.filter_map(|part| match part {
            Part::Bytes(_) => None,
            Part::Pieces(pieces) => Some(&**pieces),
        });
        let pieces: Vec<Piece<'_>> = pieces.flat_map(Piece::all).collect();
        let mut directory = Vec::with_capacity(self.sections.len());
        made_in_order(&pieces, |next| {
            for Section { n_zeros, entry, parts } in &self.sections {
                sink(&[0; PAYLOAD_ALIGN][..*n_zeros])?;
                let mut hasher = Xxh3::new();
                // A piece is still in the cache when it is written.
                let mut put = |bytes: &[u8]| {
                    hasher.update(bytes);
                    sink(bytes)
                };
                for part in parts {
                    match part {
                        Part::Bytes(bytes) => (**bytes).as_ref().chunks(PIECE).try_for_each(&mut put)?,
                        Part::Pieces(pieces) => {
                            (0..pieces.n_bytes()).step_by(PIECE).try_for_each(|_| put(&next()))?;
                        }
                    }
                }
                directory.push(SectionRec { checksum: hasher.digest(), ..*entry });
            }
            io::Result::Ok(())
        })?;
        let mut hasher = Xxh3::new();
        hasher.update(bytemuck::bytes_of(&self.header));
        hasher.update(bytemuck::cast_slice(&directory));
        let header = Header { checksum: hasher.digest(), ..self.header };
        let mut head = bytemuck::bytes_of(&header).to_vec();
        head.extend_from_slice(bytemuck::cast_slice(&directory));
        Ok(head)
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Parts({} bytes)", self.n_bytes())
    }
}

/// A piece to be made.
#[derive(Clone, Copy)]
struct Piece<'p> {
    of: &'p dyn Pieces,
    start: usize,
}

impl<'p> Piece<'p> {
    fn all(of: &'p dyn Pieces) -> impl Iterator<Item = Piece<'p>> {
        (0..of.n_bytes()).step_by(PIECE).map(move |start| Piece { of, start })
    }

    fn make(self) -> AlignedBytes {
        let mut bytes = AlignedBytes::zeroed(PIECE.min(self.of.n_bytes() - self.start));
        self.of.make(self.start, &mut bytes);
        bytes
    }
}

/// Calls `take` with a function that returns the pieces in order, each once. Unless there is only one, they
/// are made by a thread per processor: thread i of n makes the pieces i, i + n, ...
fn made_in_order<R>(pieces: &[Piece<'_>], take: impl FnOnce(&mut dyn FnMut() -> AlignedBytes) -> R) -> R {
    let n = thread::available_parallelism().map_or(1, Into::into).min(MAX_THREADS);
    thread::scope(|scope| {
        let spawn = |i: usize| -> Option<Receiver<AlignedBytes>> {
            let (give, made) = sync_channel(AHEAD);
            let make = move || {
                // An error means that no more pieces are wanted.
                pieces.iter().skip(i).step_by(n).try_for_each(|piece| give.send(piece.make()).ok())
            };
            thread::Builder::new().spawn_scoped(scope, make).ok()?;
            Some(made)
        };
        let threads: Vec<_> = (0..n).map(|i| if pieces.len() > 1 { spawn(i) } else { None }).collect();
        let mut pieces = pieces.iter().zip(threads.iter().cycle());
        take(&mut || match pieces.next() {
            // Without a thread, or if it is gone, the piece is made here.
            Some((piece, thread)) => {
                thread.as_ref().and_then(|made| made.recv().ok()).unwrap_or_else(|| piece.make())
            }
            None => AlignedBytes::zeroed(0),
        })
    })
}
