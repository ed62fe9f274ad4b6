//! A small pull parser for JSON, strict about the grammar of RFC 8259.
//!
//! It exists because a general deserializer would make up most of the wasm engine's size. A limit on nesting prevents
//! stack overflows. To keep the code small, few functions are generic.

use alloc::string::String;
use alloc::vec::Vec;

use crate::config::ParseError;

/// The maximum depth of nesting. A config document needs 7 levels: document, flags, flag, rules, rule, conditions, and
/// condition. The rest is a margin for newer members.
const MAX_DEPTH: u8 = 32;

/// The result of a read. The reader holds the details of a refusal.
pub(crate) type Read<T> = Result<T, Refused>;

/// The text does not match the expected form.
pub(crate) struct Refused;

pub(crate) struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u8,
    /// The start of the last string or number.
    value: usize,
    /// The last string with escapes, decoded. Other strings are slices of the text.
    unescaped: String,
    problem: &'static str,
}

/// A position in the text.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    at: usize,
    depth: u8,
}

/// An array or object that the reader has entered.
pub(crate) struct Container {
    end: u8,
    is_first: bool,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Result<Self, ParseError> {
        match core::str::from_utf8(text) {
            Ok(text) => Ok(Self {
                text,
                at: 0,
                depth: 0,
                value: 0,
                unescaped: String::new(),
                problem: "",
            }),
            Err(error) => Err(ParseError {
                offset: error.valid_up_to(),
                problem: "the text is not UTF-8",
            }),
        }
    }

    /// Refuses the text at the current position.
    #[inline]
    pub(crate) fn refuse<T>(&mut self, problem: &'static str) -> Read<T> {
        if cfg!(feature = "problems") {
            self.problem = problem;
        }
        Err(Refused)
    }

    /// Returns the error of the last refusal.
    pub(crate) fn error(&self) -> ParseError {
        ParseError {
            offset: self.at,
            problem: self.problem,
        }
    }

    /// Refuses the last string or number.
    #[cold]
    pub(crate) fn refuse_value(&mut self, problem: &'static str) -> Refused {
        self.at = self.value;
        if cfg!(feature = "problems") {
            self.problem = problem;
        }
        Refused
    }

    /// Returns the current position, for [`rewind`](Self::rewind).
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            depth: self.depth,
        }
    }

    /// Returns to a position.
    pub(crate) fn rewind(&mut self, Mark { at, depth }: Mark) {
        (self.at, self.depth) = (at, depth);
    }

    /// Reads a value with `read`. If `read` refuses the value, skips it and returns `None`; fails only on invalid JSON.
    pub(crate) fn lenient<T>(&mut self, read: fn(&mut Self) -> Read<T>) -> Read<Option<T>> {
        let start = self.mark();
        if let Ok(value) = read(self) {
            return Ok(Some(value));
        }
        self.rewind(start);
        self.skip()?;
        Ok(None)
    }

    /// Returns true if the next value is an object.
    pub(crate) fn is_object(&mut self) -> bool {
        self.peek() == Some(b'{')
    }

    /// Fails if anything but white space is left.
    pub(crate) fn end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.refuse("unexpected text after the document"),
        }
    }

    /// Enters an object. [`next_member`](Self::next_member) then returns its members.
    pub(crate) fn object(&mut self) -> Read<Container> {
        self.expect(b'{', "expected an object")?;
        self.enter(b'}')
    }

    /// Returns the name of the next member, or `None` at the end of the object. The caller must then read the member's
    /// value.
    pub(crate) fn next_member(&mut self, object: &mut Container) -> Read<Option<&str>> {
        if !self.has_next(object)? {
            return Ok(None);
        }
        let name = self.quoted()?;
        self.expect(b':', "expected a colon")?;
        Ok(Some(name.unwrap_or(&self.unescaped)))
    }

    /// Reads an array, each item with `item`.
    pub(crate) fn array<T>(&mut self, item: fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        let mut array = self.items()?;
        while self.has_next(&mut array)? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Enters an array. Its items follow while [`has_next`](Self::has_next) returns true.
    pub(crate) fn items(&mut self) -> Read<Container> {
        self.expect(b'[', "expected an array")?;
        self.enter(b']')
    }

    /// Returns true if another item or member follows; otherwise leaves the array or object.
    pub(crate) fn has_next(&mut self, container: &mut Container) -> Read<bool> {
        let is_first = core::mem::replace(&mut container.is_first, false);
        match self.peek() {
            Some(byte) if byte == container.end => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                Ok(true)
            }
            _ if is_first => Ok(true),
            _ => self.refuse("expected a comma or the end of the array or object"),
        }
    }

    /// Returns true and consumes `null` if that is the next value.
    pub(crate) fn null(&mut self) -> Read<bool> {
        let is_null = self.peek() == Some(b'n');
        if is_null {
            self.literal("null")?;
        }
        Ok(is_null)
    }

    pub(crate) fn boolean(&mut self) -> Read<bool> {
        let value = self.peek() == Some(b't');
        self.literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Reads a number without fraction and exponent, with at most 18 digits, which always fit into 64 bits.
    pub(crate) fn integer(&mut self) -> Read<i64> {
        const MAX_DIGITS: usize = 18;
        let number = self.number()?;
        let digits = number.trim_start_matches('-').as_bytes();
        if digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.refuse_value("expected an integer"));
        }
        let value = digits
            .iter()
            .fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        Ok(if number.starts_with('-') {
            -value
        } else {
            value
        })
    }

    pub(crate) fn string(&mut self) -> Read<&str> {
        Ok(self.quoted()?.unwrap_or(&self.unescaped))
    }

    /// Reads any value and discards it.
    pub(crate) fn skip(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'{') => {
                let mut object = self.object()?;
                while self.next_member(&mut object)?.is_some() {
                    self.skip()?;
                }
                Ok(())
            }
            Some(b'[') => self.array(Self::skip).map(drop),
            Some(b'"') => self.quoted().map(drop),
            Some(b'n') => self.literal("null"),
            Some(b't' | b'f') => self.boolean().map(drop),
            _ => self.number().map(drop),
        }
    }

    fn enter(&mut self, end: u8) -> Read<Container> {
        if self.depth == MAX_DEPTH {
            return self.refuse("the document nests too deeply");
        }
        self.depth += 1;
        Ok(Container {
            end,
            is_first: true,
        })
    }

    /// Reads a string. Returns a slice of the text, or `None` if the string has escapes, and stores it in `unescaped`.
    fn quoted(&mut self) -> Read<Option<&'t str>> {
        self.expect(b'"', "expected a string")?;
        self.value = self.at - 1;
        let text = self.plain_characters();
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Some(text));
        }
        self.unescaped.clear();
        self.unescaped.push_str(text);
        self.unescape()?;
        Ok(None)
    }

    /// Reads the characters of a string up to its end or the next escape.
    fn plain_characters(&mut self) -> &'t str {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let start = self.at;
        self.at += length;
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads the rest of a string from its first escape.
    #[cold]
    fn unescape(&mut self) -> Read<()> {
        loop {
            match self.next_byte() {
                Some(b'"') => return Ok(()),
                Some(b'\\') => {
                    let character = self.escaped()?;
                    self.unescaped.push(character);
                }
                _ => return self.refuse("unterminated string, or control character in a string"),
            }
            let more = self.plain_characters();
            self.unescaped.push_str(more);
        }
    }

    /// Reads an escape after its backslash and returns its character.
    fn escaped(&mut self) -> Read<char> {
        let character = match self.next_byte() {
            Some(character @ (b'"' | b'\\' | b'/')) => char::from(character),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.refuse("unknown escape"),
        };
        Ok(character)
    }

    /// Reads a `\uXXXX` escape after the `u`, and the second escape of a surrogate pair.
    fn unicode_escape(&mut self) -> Read<char> {
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
            _ => self.refuse("unpaired surrogate"),
        }
    }

    fn utf16_unit(&mut self) -> Read<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self
                .next_byte()
                .and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit.and_then(|digit| u16::try_from(digit).ok()) else {
                return self.refuse("expected four hexadecimal digits");
            };
            unit = unit << 4 | digit;
        }
        Ok(unit)
    }

    /// Returns the text of a number.
    fn number(&mut self) -> Read<&'t str> {
        self.peek();
        let start = self.at;
        self.value = start;
        self.take(|byte| byte == b'-');
        if !self.take(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.take(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.take(|byte| matches!(byte, b'e' | b'E')) {
            self.take(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> Read<()> {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        if !self.take(is_digit) {
            return self.refuse("expected a digit");
        }
        while self.take(is_digit) {}
        Ok(())
    }

    fn literal(&mut self, literal: &'static str) -> Read<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(literal.as_bytes()) {
            return self.refuse("unexpected value");
        }
        self.at += literal.len();
        Ok(())
    }

    fn expect(&mut self, token: u8, problem: &'static str) -> Read<()> {
        if self.peek() != Some(token) {
            return self.refuse(problem);
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Consumes the next byte if the predicate accepts it.
    fn take(&mut self, predicate: impl FnOnce(u8) -> bool) -> bool {
        let is_consumed = self.byte().is_some_and(predicate);
        self.at += usize::from(is_consumed);
        is_consumed
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
