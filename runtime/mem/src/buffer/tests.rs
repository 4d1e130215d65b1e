//! Buffers by example, by random scripts compared with the rules of the module, and once as a whole under
//! loom.

#[cfg(not(loom))]
mod by_example {
    use proptest::prelude::*;

    use super::super::*;
    use crate::{LeakCheck, Limited, Live, Malloc};

    fn checked() -> (Arc<LeakCheck>, Arc<dyn Allocator>) {
        let check = Arc::new(LeakCheck::new(Malloc::shared()));
        (check.clone(), check)
    }

    #[test]
    fn buffers_are_aligned_zeroed_and_freed() {
        let (check, allocator) = checked();
        for len in [0, 1, 64, 1000] {
            let buffer = Buffer::allocate(len, &allocator).unwrap();
            assert_eq!(buffer.address() % ALIGNMENT, 0);
            assert_eq!(*buffer.try_read().unwrap(), vec![0; len]);
            assert_eq!(check.live(), Live { blocks: 1, bytes: len + 64 });
            let second = buffer.clone();
            drop(buffer);
            assert_eq!(check.live().blocks, 1);
            drop(second);
            assert_eq!(check.live(), Live::default());
        }
    }

    #[test]
    fn guards_exclude_each_other_and_leave() {
        let buffer = Buffer::copy_of(b"hello", &Malloc::shared()).unwrap();
        let other = buffer.clone();
        {
            let _first = buffer.try_read().unwrap();
            let second = other.try_read().unwrap();
            assert_eq!(&*second, b"hello");
            assert_eq!(other.try_write().err(), Some(BorrowError::Read));
        }
        {
            let mut write = other.try_write().unwrap();
            write[0] = b'j';
            assert_eq!(buffer.try_read().err(), Some(BorrowError::Written));
            assert_eq!(buffer.try_write().err(), Some(BorrowError::Written));
        }
        assert_eq!(&*buffer.try_read().unwrap(), b"jello");
    }

    #[test]
    fn frozen_bytes_are_never_written_again() {
        let (check, allocator) = checked();
        let buffer = Buffer::copy_of(b"hello world", &allocator).unwrap();
        {
            let _write = buffer.try_write().unwrap();
            assert_eq!(buffer.freeze().err(), Some(BorrowError::Written));
        }
        let part = buffer.part(6..11).unwrap();
        let frozen = part.freeze().unwrap();
        assert_eq!(frozen.buffer().address(), part.address());
        assert_eq!(frozen.buffer().try_write().err(), Some(BorrowError::ReadOnly));
        drop(part);
        assert_eq!(buffer.try_write().err(), Some(BorrowError::Read));
        // Freezing twice yields one view of one root.
        let again = frozen.buffer().freeze().unwrap();
        assert!(again.buffer().is_same(frozen.buffer()) && !again.buffer().is_unique());
        drop((buffer, frozen));
        assert_eq!(&*again.clone(), b"world");
        assert_eq!(check.live().blocks, 1);
        drop(again);
        assert_eq!(check.live(), Live::default());
        let foreign = Frozen::from_owner(Arc::new(vec![1, 2, 3]));
        assert_eq!(&*foreign.buffer().freeze().unwrap(), &[1, 2, 3]);
    }

    #[test]
    fn views_share_the_bytes_and_the_borrow_but_cannot_write() {
        let (check, allocator) = checked();
        let buffer = Buffer::copy_of(b"hello world", &allocator).unwrap();
        let world = buffer.view(6..11).unwrap();
        let or = world.view(1..3).unwrap();
        assert_eq!(&*or.try_read().unwrap(), b"or");
        assert_eq!(or.try_write().err(), Some(BorrowError::ReadOnly));
        assert!(!buffer.is_unique() && !world.is_unique() && !or.is_unique());
        {
            let _write = buffer.try_write().unwrap();
            assert_eq!(or.try_read().err(), Some(BorrowError::Written));
        }
        {
            let _read = or.try_read().unwrap();
            assert_eq!(buffer.try_write().err(), Some(BorrowError::Read));
        }
        drop(buffer);
        drop(world);
        assert_eq!(check.live().blocks, 1);
        assert_eq!(&*or.try_read().unwrap(), b"or");
        drop(or);
        assert_eq!(check.live(), Live::default());
    }

    #[test]
    fn parts_of_what_can_be_written_can_be_written() {
        let buffer = Buffer::copy_of(b"hello world", &Malloc::shared()).unwrap();
        let world = buffer.part(6..11).unwrap();
        world.part(0..1).unwrap().try_write().unwrap()[0] = b'W';
        assert_eq!(*buffer.try_read().unwrap(), *b"hello World");
        assert!(world.is_writable() && !world.is_unique());
        {
            let _writing = world.try_write().unwrap();
            assert_eq!(buffer.part(0..5).unwrap().try_read().err(), Some(BorrowError::Written));
        }
        assert_eq!(
            buffer.view(0..5).unwrap().part(0..1).unwrap().try_write().err(),
            Some(BorrowError::ReadOnly)
        );
        let foreign = Buffer::from_owner(Arc::new(*b"abc"));
        assert_eq!(foreign.part(0..1).unwrap().try_write().err(), Some(BorrowError::ReadOnly));
    }

    #[test]
    fn views_stay_inside() {
        let buffer = Buffer::copy_of(b"abc", &Malloc::shared()).unwrap();
        assert!(buffer.view(3..3).unwrap().is_empty());
        assert_eq!(buffer.view(2..4).unwrap_err(), ViewError { range: 2..4, len: 3 });
        let reversed = Range { start: 2, end: 1 };
        assert_eq!(buffer.view(reversed.clone()).unwrap_err(), ViewError { range: reversed, len: 3 });
        assert!(buffer.view(1..2).unwrap().view(0..2).is_err());
    }

    #[test]
    fn foreign_memory_is_kept_alive_and_never_written() {
        struct Owned(Vec<u8>, #[allow(dead_code, reason = "its drop is counted")] Arc<()>);
        impl AsRef<[u8]> for Owned {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        let alive = Arc::new(());
        let buffer = Buffer::from_owner(Arc::new(Owned(vec![1, 2, 3], alive.clone())));
        let view = buffer.view(1..3).unwrap();
        assert!(!buffer.is_unique());
        assert_eq!(buffer.try_write().err(), Some(BorrowError::ReadOnly));
        drop(buffer);
        assert_eq!(Arc::strong_count(&alive), 2);
        assert_eq!(*view.try_read().unwrap(), [2, 3]);
        drop(view);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn unique_means_one_handle_of_writable_memory() {
        let buffer = Buffer::allocate(1, &Malloc::shared()).unwrap();
        assert!(buffer.is_unique());
        let other = buffer.clone();
        assert!(!buffer.is_unique() && buffer.is_same(&other));
        drop(other);
        assert!(buffer.is_unique());
        let view = buffer.view(0..1).unwrap();
        assert!(!buffer.is_unique() && !view.is_same(&buffer));
    }

    #[test]
    fn refused_requests_are_errors() {
        let small: Arc<dyn Allocator> = Arc::new(Limited::new(Malloc::shared(), 100));
        assert!(Buffer::allocate(36, &small).is_ok());
        assert_eq!(
            Buffer::allocate(37, &small).unwrap_err(),
            AllocError::OverBudget { size: 101, left: 100, budget: 100 }
        );
        assert!(matches!(Buffer::allocate(usize::MAX, &small), Err(AllocError::TooLarge { .. })));
    }

    #[test]
    fn an_allocator_that_lies_is_caught() {
        struct Liar;
        impl Allocator for Liar {
            fn allocate(&self, _size: usize, _align: usize) -> Result<Block, AllocError> {
                Block::zeroed(1, 1)
            }
            fn release(&self, block: Block) {
                drop(block);
            }
        }
        let liar: Arc<dyn Allocator> = Arc::new(Liar);
        assert!(Buffer::allocate(8, &liar).is_err());
    }

    #[test]
    fn handles_travel_between_threads() {
        let (check, allocator) = checked();
        let buffer = Buffer::allocate(8, &allocator).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let buffer = buffer.clone();
                std::thread::spawn(move || {
                    for _ in 0..200 {
                        let copy = buffer.clone();
                        if let Ok(mut bytes) = copy.try_write() {
                            let first = bytes[0].wrapping_add(1);
                            bytes.fill(first);
                        }
                        if let Ok(bytes) = buffer.try_read() {
                            assert!(bytes.iter().all(|&b| b == bytes[0]));
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        drop(buffer);
        assert_eq!(check.live(), Live::default());
    }

    /// The model of a script's state: the number of readers, or a writer.
    #[derive(Clone, Debug)]
    enum Step {
        Read,
        Write,
        EndRead,
        EndWrite,
        View,
        DropView,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        use Step::*;
        prop::collection::vec(
            prop::sample::select(vec![Read, Write, EndRead, EndWrite, View, DropView]),
            0..40,
        )
    }

    proptest! {
        #[test]
        fn any_script_agrees_with_the_rules(script in steps()) {
            let (check, allocator) = checked();
            let buffer = Buffer::allocate(8, &allocator).unwrap();
            let mut views = Vec::new();
            let (mut readers, mut writer) = (Vec::new(), None);
            for step in script {
                match step {
                    Step::Read => match buffer.try_read() {
                        Ok(guard) => {
                            prop_assert!(writer.is_none());
                            readers.push(guard);
                        }
                        Err(error) => prop_assert!(error == BorrowError::Written && writer.is_some()),
                    },
                    Step::Write => match buffer.try_write() {
                        Ok(guard) => {
                            prop_assert!(writer.is_none() && readers.is_empty());
                            writer = Some(guard);
                        }
                        Err(error) => {
                            let want = if writer.is_some() { BorrowError::Written } else { BorrowError::Read };
                            prop_assert!(error == want && (writer.is_some() || !readers.is_empty()));
                        }
                    },
                    Step::EndRead => drop(readers.pop()),
                    Step::EndWrite => writer = None,
                    Step::View => views.push(views.last().unwrap_or(&buffer).view(0..4).unwrap()),
                    Step::DropView => drop(views.pop()),
                }
                prop_assert_eq!(buffer.is_unique(), views.is_empty());
                prop_assert!(views.iter().all(|view| view.try_read().is_ok() == writer.is_none()));
            }
            drop((readers, writer));
            drop(buffer);
            prop_assert_eq!(check.live().blocks, usize::from(!views.is_empty()));
            drop(views);
            prop_assert_eq!(check.live(), Live::default());
        }
    }
}

#[cfg(loom)]
mod loom_tests {
    use super::super::*;
    use crate::{LeakCheck, Live, Malloc};

    #[test]
    fn loom_a_buffer_shared_by_threads_is_freed_once() {
        loom::model(|| {
            let check = Arc::new(LeakCheck::new(Malloc::shared()));
            let allocator: Arc<dyn Allocator> = check.clone();
            let buffer = Buffer::allocate(4, &allocator).unwrap();
            let view = buffer.view(1..3).unwrap();
            let thread = loom::thread::spawn(move || {
                if let Ok(bytes) = view.try_read() {
                    assert!(*bytes == [0, 0] || *bytes == [7, 7]);
                }
            });
            if let Ok(mut bytes) = buffer.try_write() {
                bytes.fill(7);
            }
            drop(buffer);
            thread.join().unwrap();
            assert_eq!(check.live(), Live::default());
        });
    }
}
