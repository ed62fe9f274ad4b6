//! A small pull parser for JSON, strict about the grammar of RFC 8259.
//!
//! It exists because a general deserialiser would be most of the wasm engine's size. Nesting is bounded, so that no
//! document can exhaust the stack.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::ParseError;

/// Deeper than any config document nests: flags, flag, rules, rule, conditions, condition, and room for newer members.
const MAX_DEPTH: u8 = 32;

pub(crate) struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u8,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Result<Self, ParseError> {
        match core::str::from_utf8(text) {
            Ok(text) => Ok(Self {
                text,
                at: 0,
                depth: 0,
            }),
            Err(error) => Err(ParseError {
                offset: error.valid_up_to(),
                problem: "the text is not UTF-8",
            }),
        }
    }

    /// An error at the place reached.
    pub(crate) fn error(&self, problem: &'static str) -> ParseError {
        ParseError {
            offset: self.at,
            problem,
        }
    }

    /// Makes sure that nothing but white space is left.
    pub(crate) fn end(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("the document goes on after its end")),
        }
    }

    /// Reads an object; `member` is called with each name and must read the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.sequence(b'{', b'}', "an object is expected", |reader| {
            let name = reader.string()?;
            reader.expect(b':', "a colon is expected")?;
            member(reader, &name)
        })
    }

    /// Reads an array of what `item` reads.
    pub(crate) fn array<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        self.sequence(b'[', b']', "an array is expected", |reader| {
            items.push(item(reader)?);
            Ok(())
        })?;
        Ok(items)
    }

    /// Reads `null` as none, and anything else by `value`.
    pub(crate) fn nullable<T>(
        &mut self,
        value: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Option<T>, ParseError> {
        if self.peek() == Some(b'n') {
            self.word("null")?;
            return Ok(None);
        }
        value(self).map(Some)
    }

    pub(crate) fn boolean(&mut self) -> Result<bool, ParseError> {
        match self.peek() {
            Some(b't') => self.word("true").map(|()| true),
            Some(b'f') => self.word("false").map(|()| false),
            _ => Err(self.error("a boolean is expected")),
        }
    }

    /// Reads a number without fraction and exponent that fits 64 bits.
    pub(crate) fn integer(&mut self) -> Result<i64, ParseError> {
        const EXPECTED: &str = "an integer is expected";
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number()?.parse().map_err(|_| self.error(EXPECTED)),
            _ => Err(self.error(EXPECTED)),
        }
    }

    pub(crate) fn string(&mut self) -> Result<Cow<'t, str>, ParseError> {
        self.expect(b'"', "a string is expected")?;
        let mut text = Cow::Borrowed(self.plain_characters());
        loop {
            match self.next_byte() {
                Some(b'"') => return Ok(text),
                Some(b'\\') => text.to_mut().push(self.escaped()?),
                _ => return Err(self.error("the string does not end, or has a control character")),
            }
            let more = self.plain_characters();
            if !more.is_empty() {
                text.to_mut().push_str(more);
            }
        }
    }

    /// Reads any value and forgets it.
    pub(crate) fn skip(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            Some(b'{') => self.object(|reader, _| reader.skip()),
            Some(b'[') => self.sequence(b'[', b']', "an array is expected", Self::skip),
            Some(b'"') => self.string().map(drop),
            Some(b'n') => self.word("null"),
            Some(b't' | b'f') => self.boolean().map(drop),
            _ => self.number().map(drop),
        }
    }

    fn sequence(
        &mut self,
        open: u8,
        close: u8,
        expected: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.expect(open, expected)?;
        if self.depth == MAX_DEPTH {
            return Err(self.error("the document nests too deeply"));
        }
        self.depth += 1;
        if self.peek() == Some(close) {
            self.at += 1;
        } else {
            loop {
                item(self)?;
                match self.next_token() {
                    Some(b',') => {}
                    Some(byte) if byte == close => break,
                    _ => return Err(self.error("a comma or the end of the list is expected")),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// The characters of a string up to its end or the next escape.
    fn plain_characters(&mut self) -> &'t str {
        let start = self.at;
        while let Some(byte) = self.byte() {
            if byte == b'"' || byte == b'\\' || byte < b' ' {
                break;
            }
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The character that an escape stands for, after its backslash.
    fn escaped(&mut self) -> Result<char, ParseError> {
        let character = match self.next_byte() {
            Some(character @ (b'"' | b'\\' | b'/')) => char::from(character),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.error("there is no such escape")),
        };
        Ok(character)
    }

    /// One `\uXXXX`, or the two of a surrogate pair.
    fn unicode_escape(&mut self) -> Result<char, ParseError> {
        let first = self.utf16_unit()?;
        let second = match first {
            0xD800..=0xDBFF
                if self.next_byte() == Some(b'\\') && self.next_byte() == Some(b'u') =>
            {
                Some(self.utf16_unit()?)
            }
            _ => None,
        };
        match char::decode_utf16([first].into_iter().chain(second)).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(self.error("half of a surrogate pair stands alone")),
        }
    }

    fn utf16_unit(&mut self) -> Result<u16, ParseError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self
                .next_byte()
                .and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit.and_then(|digit| u16::try_from(digit).ok()) else {
                return Err(self.error("four hexadecimal digits are expected"));
            };
            unit = unit << 4 | digit;
        }
        Ok(unit)
    }

    /// The text of a number.
    fn number(&mut self) -> Result<&'t str, ParseError> {
        self.peek();
        let start = self.at;
        self.take(b"-");
        if !self.take(b"0") {
            self.digits()?;
        }
        if self.take(b".") {
            self.digits()?;
        }
        if self.take(b"eE") {
            self.take(b"+-");
            self.digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        if !self.take(b"0123456789") {
            return Err(self.error("a digit is expected"));
        }
        while self.take(b"0123456789") {}
        Ok(())
    }

    /// Steps over the next byte if it is one of `bytes`.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let taken = self.byte().is_some_and(|byte| bytes.contains(&byte));
        self.at += usize::from(taken);
        taken
    }

    fn word(&mut self, word: &'static str) -> Result<(), ParseError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.error("there is no such word in JSON"));
        }
        self.at += word.len();
        Ok(())
    }

    fn expect(&mut self, token: u8, problem: &'static str) -> Result<(), ParseError> {
        if self.peek() != Some(token) {
            return Err(self.error(problem));
        }
        self.at += 1;
        Ok(())
    }

    fn next_token(&mut self) -> Option<u8> {
        self.peek()?;
        self.next_byte()
    }

    /// The next byte that is not white space, without stepping over it.
    fn peek(&mut self) -> Option<u8> {
        while self.take(b" \t\r\n") {}
        self.byte()
    }

    fn next_byte(&mut self) -> Option<u8> {
        let byte = self.byte()?;
        self.at += 1;
        Some(byte)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Owned text from a parsed string.
pub(crate) fn boxed(text: Cow<'_, str>) -> alloc::boxed::Box<str> {
    String::into_boxed_str(text.into_owned())
}
