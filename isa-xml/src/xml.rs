//! A pull cursor over quick-xml: the little of XML that the schema needs, with every fault placed at line and column.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{Error, Place, XmlFault};
use crate::source::Source;

/// The schema nests 12 deep, and conditions a few dozen more.
const MAX_DEPTH: usize = 128;

/// The schema's elements have at most 5.
const MAX_ATTRIBUTES: usize = 64;

/// Things in the file that the model does not hold, with the number of times each was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// Elements (`Spec/ISA/Foo`) and attributes (`Spec/ISA/@Foo`) that the model does not know; they are skipped.
    pub unknown: BTreeMap<String, usize>,
    /// Known oddities of AMD's files that are read in the only sensible way.
    pub quirks: BTreeMap<String, usize>,
}

pub(crate) struct Cursor<'a> {
    reader: Reader<&'a [u8]>,
    source: &'a Source,
    /// Names of the open elements that the model knows.
    path: Vec<&'static str>,
    /// Where the current event begins.
    at: usize,
    pub(crate) notes: Notes,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        let mut reader = Reader::from_str(&source.text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_comments = false;
        Self { reader, source, path: Vec::with_capacity(MAX_DEPTH), at: 0, notes: Notes::default() }
    }

    /// A fault at the current event.
    pub(crate) fn fault(&self, fault: XmlFault) -> Error {
        self.fault_at(self.at, fault)
    }

    pub(crate) fn fault_at(&self, at: usize, fault: XmlFault) -> Error {
        Error::Xml { place: Place::of(&self.source.name, self.source.text.as_bytes(), at), fault }
    }

    /// The offset of the current event.
    pub(crate) fn here(&self) -> usize {
        self.at
    }

    fn next(&mut self) -> Result<Event<'a>, Error> {
        self.at = self.reader.buffer_position() as usize;
        match self.reader.read_event() {
            Ok(event) => Ok(event),
            Err(error) => {
                let at = self.reader.error_position() as usize;
                Err(self.fault_at(at, XmlFault::Malformed(error.to_string())))
            }
        }
    }

    fn truncated(&self) -> Error {
        let open = self.path.last().copied().unwrap_or_default();
        self.fault(XmlFault::Truncated(open.to_owned()))
    }

    /// Reads the whole document, whose root element must have the given name.
    pub(crate) fn document<T>(
        &mut self,
        root: &str,
        read: impl FnOnce(&mut Self, &BytesStart<'a>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let value = loop {
            match self.next()? {
                Event::Start(start) if start.name().as_ref() == root => {
                    break read(self, &start)?;
                }
                Event::Start(start) => {
                    let found = start.name().as_ref().to_owned();
                    return Err(self.fault(XmlFault::WrongRoot(found)));
                }
                Event::DocType(_) => return Err(self.fault(XmlFault::DocType)),
                Event::Text(text) if is_blank(&text) => {}
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) => {}
                _ => return Err(self.fault(XmlFault::NoRoot)),
            }
        };
        loop {
            match self.next()? {
                Event::Eof => return Ok(value),
                Event::Text(text) if is_blank(&text) => {}
                Event::Comment(_) | Event::PI(_) => {}
                _ => return Err(self.fault(XmlFault::TrailingContent)),
            }
        }
    }

    /// Calls `each` for every child element until the current element ends.
    pub(crate) fn children(
        &mut self,
        element: &'static str,
        mut each: impl FnMut(&mut Self, &BytesStart<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.fault(XmlFault::TooDeep(MAX_DEPTH)));
        }
        self.path.push(element);
        loop {
            match self.next()? {
                Event::Text(text) if is_blank(&text) => {}
                // The reader expands empty elements; `Empty` is here for completeness.
                Event::Start(start) | Event::Empty(start) => each(self, &start)?,
                Event::End(_) => break,
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof => return Err(self.truncated()),
                Event::DocType(_) => return Err(self.fault(XmlFault::DocType)),
                Event::Text(text) => return Err(self.stray_text(element, &text)),
                Event::CData(text) => return Err(self.stray_text(element, &text)),
                Event::GeneralRef(name) => {
                    let text = format!("&{};", &*name);
                    return Err(self.stray_text(element, &text));
                }
                Event::Decl(_) => {
                    let message = "an XML declaration within the document".to_owned();
                    return Err(self.fault(XmlFault::Malformed(message)));
                }
            }
        }
        self.path.pop();
        Ok(())
    }

    fn stray_text(&self, element: &str, text: &str) -> Error {
        self.fault(XmlFault::UnexpectedText { element: element.to_owned(), found: clip(text.trim()) })
    }

    /// The attributes, entities resolved.
    pub(crate) fn attributes(
        &mut self,
        start: &BytesStart<'a>,
        mut each: impl FnMut(&mut Self, &str, &str) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        for (index, attribute) in start.attributes().enumerate() {
            // The reader compares each name with all before it.
            if index == MAX_ATTRIBUTES {
                let message = format!("an element with more than {MAX_ATTRIBUTES} attributes");
                return Err(self.fault(XmlFault::Malformed(message)));
            }
            let attribute = attribute.map_err(|error| self.fault(XmlFault::Malformed(error.to_string())))?;
            let value = if attribute.value.contains('&') {
                attribute
                    .normalized_value(XmlVersion::Implicit1_0)
                    .map_err(|error| self.fault(XmlFault::Malformed(error.to_string())))?
            } else {
                attribute.value
            };
            let key = attribute.key.into_inner();
            if !each(self, key, &value)? {
                let path = self.path_to(start.name().as_ref());
                self.count_unknown(format!("{path}/@{key}"));
            }
        }
        Ok(())
    }

    /// Counts the attributes of an element that should have none.
    pub(crate) fn no_attributes(&mut self, start: &BytesStart<'a>) -> Result<(), Error> {
        if start.attributes_raw().trim_ascii().is_empty() {
            return Ok(());
        }
        self.attributes(start, |_, _, _| Ok(false))
    }

    /// Calls `each` for every child of an element that has no attributes.
    pub(crate) fn plain_children(
        &mut self,
        start: &BytesStart<'a>,
        element: &'static str,
        each: impl FnMut(&mut Self, &BytesStart<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.no_attributes(start)?;
        self.children(element, each)
    }

    /// The text of an element that has no attributes, trimmed.
    pub(crate) fn text(&mut self, start: &BytesStart<'a>) -> Result<Cow<'a, str>, Error> {
        self.no_attributes(start)?;
        self.content(start)
    }

    /// The text up to the end of the current element, trimmed.
    pub(crate) fn content(&mut self, start: &BytesStart<'a>) -> Result<Cow<'a, str>, Error> {
        let mut all: Option<Cow<'a, str>> = None;
        let begin = self.at;
        loop {
            let part: Cow<'a, str> = match self.next()? {
                Event::Text(text) => text.into_inner(),
                Event::CData(text) => text.into_inner(),
                Event::GeneralRef(name) => self.entity(&name)?,
                Event::Comment(_) | Event::PI(_) => continue,
                Event::End(_) => break,
                Event::Eof => {
                    let open = start.name().as_ref().to_owned();
                    return Err(self.fault(XmlFault::Truncated(open)));
                }
                Event::Start(child) | Event::Empty(child) => {
                    return Err(self.fault(XmlFault::UnexpectedElement {
                        element: start.name().as_ref().to_owned(),
                        child: child.name().as_ref().to_owned(),
                    }));
                }
                Event::DocType(_) => return Err(self.fault(XmlFault::DocType)),
                Event::Decl(_) => {
                    let message = "an XML declaration within the document".to_owned();
                    return Err(self.fault(XmlFault::Malformed(message)));
                }
            };
            match &mut all {
                None => all = Some(part),
                Some(text) => text.to_mut().push_str(&part),
            }
        }
        // Faults of the value belong to the element, not to its end tag.
        self.at = begin;
        Ok(match all {
            None => Cow::Borrowed(""),
            Some(Cow::Borrowed(text)) => Cow::Borrowed(text.trim_ascii()),
            Some(Cow::Owned(text)) => Cow::Owned(text.trim_ascii().to_owned()),
        })
    }

    fn entity(&self, name: &quick_xml::events::BytesRef<'a>) -> Result<Cow<'a, str>, Error> {
        if let Some(text) = quick_xml::escape::resolve_xml_entity(name) {
            return Ok(Cow::Borrowed(text));
        }
        match name.resolve_char_ref() {
            Ok(Some(c)) => Ok(Cow::Owned(c.to_string())),
            Ok(None) => Err(self.fault(XmlFault::UnknownEntity(clip(name)))),
            Err(error) => Err(self.fault(XmlFault::Malformed(error.to_string()))),
        }
    }

    /// The number in the current element.
    pub(crate) fn number<T: FromStr>(&mut self, start: &BytesStart<'a>) -> Result<T, Error> {
        let text = self.text(start)?;
        self.parse(start.name().as_ref(), &text)
    }

    /// A number written in decimal.
    pub(crate) fn parse<T: FromStr>(&self, what: &str, text: &str) -> Result<T, Error> {
        text.parse().map_err(|_| {
            self.fault(XmlFault::BadValue { what: what.to_owned(), found: clip(text), expected: number_kind::<T>() })
        })
    }

    /// The number in the current element, in the base that its attribute `Radix` names.
    pub(crate) fn radix_number(&mut self, start: &BytesStart<'a>) -> Result<u128, Error> {
        let mut radix = 10;
        self.attributes(start, |x, name, value| {
            match name {
                "Radix" => {
                    radix = x.parse("Radix", value)?;
                    if !matches!(radix, 2 | 8 | 10 | 16) {
                        return Err(x.fault(XmlFault::BadValue {
                            what: "Radix".to_owned(),
                            found: clip(value),
                            expected: "2, 8, 10 or 16",
                        }));
                    }
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let text = self.content(start)?;
        u128::from_str_radix(&text, radix).map_err(|_| {
            self.fault(XmlFault::BadValue {
                what: start.name().as_ref().to_owned(),
                found: clip(&text),
                expected: match radix {
                    2 => "a binary number below 2^128",
                    8 => "an octal number below 2^128",
                    16 => "a hexadecimal number below 2^128",
                    _ => "a decimal number below 2^128",
                },
            })
        })
    }

    /// `true` or `false`, in any case.
    pub(crate) fn boolean(&self, what: &str, text: &str) -> Result<bool, Error> {
        if text.eq_ignore_ascii_case("true") || text == "1" {
            Ok(true)
        } else if text.eq_ignore_ascii_case("false") || text == "0" {
            Ok(false)
        } else {
            Err(self.fault(XmlFault::BadValue { what: what.to_owned(), found: clip(text), expected: "true or false" }))
        }
    }

    /// Skips an element that is known and not wanted, and whatever is in it.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        let mut depth = 1;
        while depth > 0 {
            match self.next()? {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.truncated()),
                Event::DocType(_) => return Err(self.fault(XmlFault::DocType)),
                _ => {}
            }
            if self.path.len() + depth > MAX_DEPTH {
                return Err(self.fault(XmlFault::TooDeep(MAX_DEPTH)));
            }
        }
        Ok(())
    }

    /// Counts and skips an element that the model does not know.
    pub(crate) fn unknown(&mut self, start: &BytesStart<'a>) -> Result<(), Error> {
        let path = self.path_to(start.name().as_ref());
        self.count_unknown(path);
        self.skip()
    }

    fn count_unknown(&mut self, path: String) {
        count(&mut self.notes.unknown, path);
    }

    /// Counts an oddity.
    pub(crate) fn quirk(&mut self, what: &str) {
        let path = format!("{}: {what}", self.path.join("/"));
        count(&mut self.notes.quirks, path);
    }

    fn path_to(&self, name: &str) -> String {
        // An element's own attributes are read before its name is pushed; its children after.
        let mut path = self.path.join("/");
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&clip(name));
        path
    }

    /// The value of a required element or attribute.
    pub(crate) fn require<T>(&self, element: &'static str, what: &'static str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| self.fault(XmlFault::Missing { element, what }))
    }

    /// Sets a value that may occur only once.
    pub(crate) fn once<T>(
        &self,
        element: &'static str,
        what: &'static str,
        slot: &mut Option<T>,
        value: T,
    ) -> Result<(), Error> {
        if slot.replace(value).is_some() {
            return Err(self.fault(XmlFault::Repeated { element, what }));
        }
        Ok(())
    }
}

/// A hostile file can have as many distinct unknown names as it has bytes: past this many they share one line.
const MAX_NOTES: usize = 1000;

fn count(notes: &mut BTreeMap<String, usize>, path: String) {
    if notes.len() < MAX_NOTES || notes.contains_key(&path) {
        *notes.entry(path).or_default() += 1;
    } else {
        *notes.entry("(others)".to_owned()).or_default() += 1;
    }
}

fn is_blank(text: &str) -> bool {
    text.trim_ascii().is_empty()
}

/// The beginning of a text, for messages.
fn clip(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn number_kind<T>() -> &'static str {
    match std::any::type_name::<T>() {
        "u16" => "a number from 0 to 65535",
        "u32" => "a number from 0 to 4294967295",
        "u64" => "a number from 0 to 2^64 - 1",
        "i32" => "a number from -2^31 to 2^31 - 1",
        "i64" => "a number from -2^63 to 2^63 - 1",
        _ => "a number",
    }
}
