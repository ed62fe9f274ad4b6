//! `pennon licenses`: the licenses of everything in the binary.

use std::io;

use flate2::read::GzDecoder;

/// The file THIRD-PARTY-NOTICES.txt of the repository, compressed.
const NOTICES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/notices.gz"));

/// Prints the notices.
pub(super) fn print() -> io::Result<()> {
    io::copy(&mut GzDecoder::new(NOTICES), &mut io::stdout().lock())?;
    Ok(())
}
