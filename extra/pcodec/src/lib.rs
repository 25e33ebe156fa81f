//! pco (https://crates.io/crates/pco) behind a C ABI: numcodecs' "pcodec" is its standalone format. Nothing unwinds out of
//! here: what panics is an error. The functions keep no state, and may be called by many threads.
use std::any::Any;
use std::ffi::{c_char, c_int};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Once;

use pco::data_types::{Number, NumberType};
use pco::errors::PcoError;
use pco::standalone::{guarantee, simple_compress_into, DecompressorItem, FileDecompressor};
use pco::{match_number_enum, ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

/// As src/codec/pcodec.h has them.
const DONE: c_int = 0;
const REFUSED: c_int = 1;
const NO_MEMORY: c_int = 2;

/// The widest window of past numbers that anybody writes, as a power of 2. pco reads wider ones, of up to 256 MB.
const WIDEST_WINDOW: u32 = 15;

#[repr(C)]
pub struct Config {
    level: usize,
    /// Numbers of a page.
    page: usize,
    classic: bool,
    /// The order of differences; -1: pco's choice; -2: it looks back for what repeats.
    delta: c_int,
}

impl Config {
    fn to_pco(&self) -> ChunkConfig {
        let delta = match self.delta {
            -1 => DeltaSpec::Auto,
            -2 => DeltaSpec::TryLookback,
            0 => DeltaSpec::NoOp,
            order => DeltaSpec::TryConsecutive(order as usize),
        };
        ChunkConfig::default()
            .with_compression_level(self.level)
            .with_mode_spec(if self.classic {
                ModeSpec::Classic
            } else {
                ModeSpec::Auto
            })
            .with_delta_spec(delta)
            .with_paging_spec(PagingSpec::EqualPagesUpTo(self.page))
    }
}

/// Where a message goes, with a zero behind it.
#[repr(C)]
pub struct Says {
    text: *mut c_char,
    room: usize,
}

struct Failure(c_int, String);

impl From<PcoError> for Failure {
    fn from(e: PcoError) -> Self {
        Failure(REFUSED, e.message)
    }
}

fn refuse<T>(message: String) -> Result<T, Failure> {
    Err(Failure(REFUSED, message))
}

fn type_of(number: u8) -> Result<NumberType, Failure> {
    NumberType::from_descriminant(number)
        .ok_or_else(|| Failure(REFUSED, format!("no type of number {number}")))
}

/// Rust ends the process where there is no memory: so much is asked for before.
fn ask_for(bytes: usize) -> Result<(), Failure> {
    let mut room = Vec::<u8>::new();
    let there = room.try_reserve_exact(bytes);
    std::hint::black_box(room); // or it would not be asked for at all
    there.map_err(|_| Failure(NO_MEMORY, format!("{bytes} bytes")))
}

fn panicked(payload: Box<dyn Any + Send>) -> Failure {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    Failure(
        REFUSED,
        format!("pco panicked: {}", text.unwrap_or("it does not say why")),
    )
}

unsafe fn guarded(says: Says, f: impl FnOnce() -> Result<(), Failure>) -> c_int {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| set_hook(Box::new(|_| {})));
    let done = catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| Err(panicked(payload)));
    let Err(Failure(code, message)) = done else {
        return DONE;
    };
    if says.room > 0 {
        let n = message.len().min(says.room - 1);
        // Safety: the caller has that much room.
        unsafe {
            std::ptr::copy_nonoverlapping(message.as_ptr().cast(), says.text, n);
            *says.text.add(n) = 0;
        }
    }
    code
}

/// The most bytes that `n` numbers are encoded to; 0: that cannot be.
#[no_mangle]
pub extern "C" fn cb_pco_bound(number: u8, n: usize, page: usize) -> usize {
    fn bound<T: Number>(n: usize, page: usize) -> usize {
        guarantee::file_size::<T::L>(n, &PagingSpec::EqualPagesUpTo(page)).unwrap_or(0)
    }
    catch_unwind(|| match type_of(number) {
        Ok(kind) => match_number_enum!(kind, NumberType<T> => { bound::<T>(n, page) }),
        Err(_) => 0,
    })
    .unwrap_or(0)
}

/// # Safety
/// `src` has `n` numbers, aligned as such, `dst` room for `cap` bytes, and `says` what it says.
#[no_mangle]
pub unsafe extern "C" fn cb_pco_encode(
    number: u8,
    config: &Config,
    src: *const u8,
    n: usize,
    dst: *mut u8,
    cap: usize,
    got: &mut usize,
    memory: usize,
    says: Says,
) -> c_int {
    unsafe fn encode<T: Number>(
        src: *const u8,
        n: usize,
        dst: &mut [u8],
        c: &Config,
    ) -> Result<usize, Failure> {
        let src: *const T = src.cast();
        if !src.is_aligned() {
            return refuse("numbers that are not aligned".to_string());
        }
        let cap = dst.len();
        // Safety: what the caller says.
        let left = simple_compress_into(
            unsafe { std::slice::from_raw_parts(src, n) },
            &c.to_pco(),
            dst,
        )?;
        Ok(cap - left.len())
    }
    unsafe {
        guarded(says, || {
            let kind = type_of(number)?;
            ask_for(memory)?;
            let dst = std::slice::from_raw_parts_mut(dst, cap);
            *got = match_number_enum!(kind, NumberType<T> => { encode::<T>(src, n, dst, config)? });
            Ok(())
        })
    }
}

/// Bits of what pco packs from the lowest bit of the first byte on; those behind the end are 0: pco finds the end.
fn bits(src: &[u8], at: usize, n: usize) -> usize {
    (0..n)
        .map(|i| {
            (usize::from(src.get((at + i) / 8).copied().unwrap_or(0)) >> ((at + i) % 8) & 1) << i
        })
        .sum()
}

/// Whether the chunk of a file that begins here has no more than `room` numbers, and asks for no more memory than it needs:
/// pco itself believes up to 2**25 different values, and windows of 2**24.
fn check_chunk<T: Number>(src: &[u8], major: u8, room: usize) -> Result<(), Failure> {
    if src.first().is_none_or(|&kind| kind == 0) {
        return Ok(());
    }
    let n = bits(src, 8, 24) + 1;
    if n > room {
        return refuse(format!("{n} numbers more, expected {room}"));
    }
    let behind = 32 + 4;
    let width = 8 * size_of::<T>();
    let delta = match bits(src, 32, 4) {
        1 | 2 => behind + width,
        3 => behind + 8,
        4 => {
            let values = bits(src, behind, 25);
            if values > n {
                return refuse(format!("{values} different values of {n} numbers"));
            }
            (behind + 25).next_multiple_of(8) + values * width
        }
        _ => behind,
    };
    if major < 3 || bits(src, delta, 4) != 2 {
        return Ok(());
    }
    let window = bits(src, delta + 4, 5) as u32 + 1;
    if window > WIDEST_WINDOW {
        return refuse(format!(
            "a window of 2**{window} numbers, expected at most 2**{WIDEST_WINDOW}"
        ));
    }
    Ok(())
}

unsafe fn decode<T: Number>(src: &[u8], dst: *mut u8, n: usize) -> Result<(), Failure> {
    let (file, mut rest) = FileDecompressor::new(src)?;
    // pco writes whole batches of 256 numbers; and the bytes lie at any address.
    let mut batch = [T::default(); 4096];
    let mut done = 0;
    loop {
        check_chunk::<T>(rest, file.format_version().major, n - done)?;
        let DecompressorItem::Chunk(mut chunk) = file.chunk_decompressor::<T, _>(rest)? else {
            break;
        };
        loop {
            let progress = chunk.read(&mut batch)?;
            let m = progress.n_processed;
            if m > n - done {
                return refuse(format!("more than {n} numbers"));
            }
            // Safety: there is room for `n`, and no alignment is asked for of bytes.
            unsafe {
                let to = dst.add(done * size_of::<T>());
                std::ptr::copy_nonoverlapping(batch.as_ptr().cast(), to, m * size_of::<T>());
            }
            done += m;
            if progress.finished {
                break;
            }
        }
        rest = chunk.into_src();
    }
    if done == n {
        Ok(())
    } else {
        refuse(format!("{done} numbers, expected {n}"))
    }
}

/// # Safety
/// `src` has `size` bytes, `dst` room for `n` numbers, and `says` what it says.
#[no_mangle]
pub unsafe extern "C" fn cb_pco_decode(
    number: u8,
    src: *const u8,
    size: usize,
    dst: *mut u8,
    n: usize,
    memory: usize,
    says: Says,
) -> c_int {
    unsafe {
        guarded(says, || {
            let kind = type_of(number)?;
            ask_for(memory)?;
            let src = std::slice::from_raw_parts(src, size);
            match_number_enum!(kind, NumberType<T> => { decode::<T>(src, dst, n) })
        })
    }
}
