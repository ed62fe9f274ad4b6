//! `pennon licenses`: prints the licenses of all software in the binary.

use std::io;

use flate2::read::GzDecoder;

/// The compressed content of THIRD-PARTY-NOTICES.txt.
const NOTICES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/notices.gz"));

/// Prints the notices.
pub(super) fn print() -> io::Result<()> {
    io::copy(&mut GzDecoder::new(NOTICES), &mut io::stdout().lock())?;
    Ok(())
}
