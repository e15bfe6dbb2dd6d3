//! The calls into LLVM's C API.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use libloading::Library;
use object::{Object, ObjectSection};

use crate::{Error, LIBRARY_VARIABLE};

type Pointer = *mut c_void;

macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions in use, valid while `_library` is open.
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            _library: Library,
        }

        impl Functions {
            fn bind(library: Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of LLVM's C API, which is stable over releases, and the library
                // moves into the same struct as the pointers.
                unsafe {
                    Ok(Self {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    LLVMGetVersion: fn(*mut c_uint, *mut c_uint, *mut c_uint);
    LLVMInitializeAMDGPUTargetInfo: fn();
    LLVMInitializeAMDGPUTarget: fn();
    LLVMInitializeAMDGPUTargetMC: fn();
    LLVMInitializeAMDGPUDisassembler: fn();
    LLVMInitializeAMDGPUAsmParser: fn();
    LLVMInitializeAMDGPUAsmPrinter: fn();
    LLVMCreateDisasmCPUFeatures:
        fn(*const c_char, *const c_char, *const c_char, Pointer, c_int, Pointer, Pointer) -> Pointer;
    LLVMDisasmInstruction: fn(Pointer, *mut u8, u64, u64, *mut c_char, usize) -> usize;
    LLVMDisasmDispose: fn(Pointer);
    LLVMGetTargetFromTriple: fn(*const c_char, *mut Pointer, *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine:
        fn(Pointer, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int) -> Pointer;
    LLVMDisposeTargetMachine: fn(Pointer);
    LLVMCreateTargetDataLayout: fn(Pointer) -> Pointer;
    LLVMDisposeTargetData: fn(Pointer);
    LLVMContextCreate: fn() -> Pointer;
    LLVMContextDispose: fn(Pointer);
    LLVMContextSetDiagnosticHandler: fn(Pointer, unsafe extern "C" fn(Pointer, Pointer), Pointer);
    LLVMGetDiagInfoDescription: fn(Pointer) -> *mut c_char;
    LLVMGetDiagInfoSeverity: fn(Pointer) -> c_int;
    LLVMDisposeMessage: fn(*mut c_char);
    LLVMModuleCreateWithNameInContext: fn(*const c_char, Pointer) -> Pointer;
    LLVMDisposeModule: fn(Pointer);
    LLVMSetTarget: fn(Pointer, *const c_char);
    LLVMSetModuleDataLayout: fn(Pointer, Pointer);
    LLVMSetModuleInlineAsm2: fn(Pointer, *const c_char, usize);
    LLVMTargetMachineEmitToMemoryBuffer: fn(Pointer, Pointer, c_int, *mut *mut c_char, *mut Pointer) -> c_int;
    LLVMGetBufferStart: fn(Pointer) -> *const u8;
    LLVMGetBufferSize: fn(Pointer) -> usize;
    LLVMDisposeMemoryBuffer: fn(Pointer);
}

const TRIPLE: &CStr = c"amdgcn";

/// LLVM, loaded and with its AMDGPU target initialised.
///
/// Not `Send`: LLVM's set-up functions want one thread.
#[derive(Clone)]
pub struct Oracle {
    functions: Rc<Functions>,
    path: PathBuf,
}

impl std::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Oracle").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The files that may be the library, the largest first: the toolchain also has linker scripts of that name.
fn candidates(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u64, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libLLVM") && (name.contains(".so") || name.ends_with(".dylib"))
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.len(), entry.path())))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

fn toolchain_folder() -> Result<PathBuf, Error> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(&rustc).args(["--print", "sysroot"]).output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib"))
        }
        _ => Err(Error::Sysroot(rustc)),
    }
}

impl Oracle {
    /// Opens the library that [`LIBRARY_VARIABLE`] names, or else the Rust toolchain's.
    ///
    /// # Errors
    /// When there is no library, or one that cannot be used.
    pub fn load() -> Result<Self, Error> {
        if let Some(path) = std::env::var_os(LIBRARY_VARIABLE) {
            return Self::open(Path::new(&path));
        }
        let folder = toolchain_folder()?;
        let mut error = Error::NotFound(folder.clone());
        for path in candidates(&folder) {
            match Self::open(&path) {
                Ok(oracle) => return Ok(oracle),
                // The largest file's error is the one worth telling.
                Err(other) if matches!(error, Error::NotFound(_)) => error = other,
                Err(_) => {}
            }
        }
        Err(error)
    }

    /// Opens one library.
    ///
    /// # Errors
    /// When the file cannot be opened or is not LLVM.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if !path.exists() {
            return Err(Error::NotFound(path.to_owned()));
        }
        // SAFETY: opening LLVM runs its static constructors, which register command-line options and no more.
        let library = unsafe { Library::new(path) }.map_err(|error| Error::Load(path.to_owned(), error))?;
        let functions = Functions::bind(library).map_err(|error| Error::Load(path.to_owned(), error))?;
        // SAFETY: no arguments; LLVM ignores repeated registration.
        unsafe {
            (functions.LLVMInitializeAMDGPUTargetInfo)();
            (functions.LLVMInitializeAMDGPUTarget)();
            (functions.LLVMInitializeAMDGPUTargetMC)();
            (functions.LLVMInitializeAMDGPUDisassembler)();
            (functions.LLVMInitializeAMDGPUAsmParser)();
            (functions.LLVMInitializeAMDGPUAsmPrinter)();
        }
        Ok(Self { functions: Rc::new(functions), path: path.to_owned() })
    }

    /// The library in use.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// LLVM's version, for example `(22, 1, 2)`.
    #[must_use]
    pub fn version(&self) -> (u32, u32, u32) {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: three valid pointers to write to.
        unsafe { (self.functions.LLVMGetVersion)(&mut major, &mut minor, &mut patch) };
        (major, minor, patch)
    }

    /// A processor with a feature string such as `+real-true16,+wavefrontsize64` (empty for the defaults).
    ///
    /// LLVM does not refuse a processor that it does not know: it warns on stderr and takes a generic one.
    ///
    /// # Errors
    /// When the library lacks the AMDGPU target or a string holds a NUL.
    pub fn target(&self, cpu: &str, features: &str) -> Result<Target, Error> {
        let no_target = |why: &str| Error::NoTarget(why.to_owned());
        let cpu = CString::new(cpu).map_err(|_| no_target("NUL in the processor's name"))?;
        let features = CString::new(features).map_err(|_| no_target("NUL in the features"))?;
        let f = &self.functions;
        let mut target = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: the strings are NUL-terminated; a failing call sets `message`, which `take` frees; made objects
        // are disposed of by `Target`'s drop.
        unsafe {
            if (f.LLVMGetTargetFromTriple)(TRIPLE.as_ptr(), &mut target, &mut message) != 0 {
                return Err(Error::NoTarget(f.take(message)));
            }
            let null = ptr::null_mut();
            let disassembler =
                (f.LLVMCreateDisasmCPUFeatures)(TRIPLE.as_ptr(), cpu.as_ptr(), features.as_ptr(), null, 0, null, null);
            let disassembler = NonNull::new(disassembler).ok_or_else(|| no_target("no disassembler"))?;
            let mut made = Target { functions: Rc::clone(f), disassembler, machine: None };
            // The last three: optimisation level none, relocation and code model default.
            let machine =
                (f.LLVMCreateTargetMachine)(target, TRIPLE.as_ptr(), cpu.as_ptr(), features.as_ptr(), 0, 0, 0);
            made.machine = Some(NonNull::new(machine).ok_or_else(|| no_target("no target machine"))?);
            Ok(made)
        }
    }
}

impl Functions {
    /// Copies and frees one of LLVM's strings.
    ///
    /// # Safety
    /// `text` is null or a string that LLVM handed out and nobody freed.
    unsafe fn take(&self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: see above.
        unsafe {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.LLVMDisposeMessage)(text);
            copy
        }
    }
}

/// One processor's assembler and disassembler.
pub struct Target {
    functions: Rc<Functions>,
    disassembler: NonNull<c_void>,
    machine: Option<NonNull<c_void>>,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // SAFETY: made by `Oracle::target` and disposed of once.
        unsafe {
            (self.functions.LLVMDisasmDispose)(self.disassembler.as_ptr());
            if let Some(machine) = self.machine {
                (self.functions.LLVMDisposeTargetMachine)(machine.as_ptr());
            }
        }
    }
}

/// A message and the index of the line it is about, where LLVM says so.
type Placed = (Option<usize>, String);

/// What the diagnostic handler writes to.
struct Diagnostics<'a> {
    functions: &'a Functions,
    errors: Vec<String>,
}

unsafe extern "C" fn record_diagnostic(info: Pointer, context: Pointer) {
    const SEVERITY_ERROR: c_int = 0;
    // SAFETY: `context` is the `Diagnostics` that `emit` registered and keeps alive; `info` is LLVM's.
    unsafe {
        let diagnostics = &mut *context.cast::<Diagnostics<'_>>();
        let functions = diagnostics.functions;
        if (functions.LLVMGetDiagInfoSeverity)(info) == SEVERITY_ERROR {
            let text = functions.take((functions.LLVMGetDiagInfoDescription)(info));
            diagnostics.errors.push(text);
        }
    }
}

impl Target {
    /// The length and text of the first instruction, as llvm-mc prints it without the leading tab. `None` where
    /// LLVM refuses the word; that includes words which llvm-mc prints with the warning "potentially undefined
    /// instruction encoding".
    #[must_use]
    pub fn disassemble(&self, bytes: &[u8]) -> Option<(usize, String)> {
        // LLVM takes a mutable pointer though it only reads.
        let mut bytes = bytes.to_vec();
        let mut text = [0u8; 512];
        // SAFETY: both buffers are valid for the lengths given, and LLVM ends the text with a NUL inside them.
        let length = unsafe {
            (self.functions.LLVMDisasmInstruction)(
                self.disassembler.as_ptr(),
                bytes.as_mut_ptr(),
                bytes.len() as u64,
                0,
                text.as_mut_ptr().cast(),
                text.len(),
            )
        };
        if length == 0 {
            return None;
        }
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        Some((length, normalise(&String::from_utf8_lossy(&text[..end]))))
    }

    /// The bytes of one instruction.
    ///
    /// # Errors
    /// LLVM's message where it refuses the text.
    pub fn assemble(&self, line: &str) -> Result<Vec<u8>, String> {
        self.assemble_lines(&[line]).pop().unwrap_or_else(|| Err("no line".to_owned()))
    }

    /// The bytes of each line by itself: one answer a line. Much faster than [`Self::assemble`] in a loop.
    pub fn assemble_lines<S: AsRef<str>>(&self, lines: &[S]) -> Vec<Result<Vec<u8>, String>> {
        const BATCH: usize = 2000;
        let mut answers: Vec<Option<Result<Vec<u8>, String>>> = vec![None; lines.len()];
        let line = |index: usize| lines[index].as_ref();
        // What could swallow or change the lines after it goes alone.
        let alone = |text: &str| text.contains("/*") || text.contains('"') || text.trim_start().starts_with('.');
        let (single, together): (Vec<usize>, Vec<usize>) = (0..lines.len()).partition(|&index| alone(line(index)));
        for batch in single.chunks(1).chain(together.chunks(BATCH)) {
            let mut rest: Vec<usize> = batch.to_vec();
            rest.retain(|&index| {
                let bad = line(index).contains(['\n', '\r']);
                if bad {
                    answers[index] = Some(Err("more than one line".to_owned()));
                }
                !bad
            });
            while !rest.is_empty() {
                let texts: Vec<&str> = rest.iter().map(|&index| line(index)).collect();
                match self.emit(&texts) {
                    Ok(codes) => {
                        for (&index, code) in rest.iter().zip(codes) {
                            answers[index] = Some(Ok(code));
                        }
                        break;
                    }
                    Err(errors) => {
                        let mut removed = false;
                        for (place, message) in errors {
                            let Some(&index) = place.and_then(|place| rest.get(place)) else {
                                continue;
                            };
                            answers[index].get_or_insert(Err(message));
                            removed = true;
                        }
                        rest.retain(|&index| answers[index].is_none());
                        if !removed {
                            // An error without a place: each line alone, or give up on the one line.
                            if let [index] = rest[..] {
                                answers[index] = Some(Err("error without a place".to_owned()));
                            } else {
                                for &index in &rest {
                                    answers[index] = Some(self.assemble(line(index)));
                                }
                            }
                            break;
                        }
                    }
                }
            }
        }
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err("not assembled".to_owned()))).collect()
    }

    /// Assembles lines that make one object, each in a section of its own; on error the line's index and message.
    fn emit(&self, lines: &[&str]) -> Result<Vec<Vec<u8>>, Vec<Placed>> {
        let mut source = String::new();
        for (index, line) in lines.iter().enumerate() {
            // Two lines of source an instruction; `failing_line` counts on it.
            source.push_str(&format!(".section .i{index},\"ax\",@progbits\n{line}\n"));
        }
        let (object, errors) = self.emit_object(&source);
        if !errors.is_empty() {
            return Err(errors.into_iter().map(|text| failing_line(&text)).collect());
        }
        let unreadable = |why: String| vec![(None, why)];
        let file = object::File::parse(&*object).map_err(|error| unreadable(error.to_string()))?;
        let mut codes = vec![Vec::new(); lines.len()];
        for section in file.sections() {
            let index = section.name().ok().and_then(|name| name.strip_prefix(".i")?.parse::<usize>().ok());
            if let Some(code) = index.and_then(|index| codes.get_mut(index)) {
                *code = section.data().map_err(|error| unreadable(error.to_string()))?.to_vec();
            }
        }
        Ok(codes)
    }

    fn emit_object(&self, source: &str) -> (Vec<u8>, Vec<String>) {
        let f = &*self.functions;
        let Some(machine) = self.machine else {
            return (Vec::new(), vec!["no target machine".to_owned()]);
        };
        let mut diagnostics = Diagnostics { functions: f, errors: Vec::new() };
        let handler: *mut Diagnostics<'_> = &mut diagnostics;
        let mut object = Vec::new();
        let mut failure = None;
        // SAFETY: the context, module and layout are made here, used here and disposed of in reverse order; the
        // handler's context outlives them; the buffer is copied before it is freed.
        unsafe {
            let context = (f.LLVMContextCreate)();
            (f.LLVMContextSetDiagnosticHandler)(context, record_diagnostic, handler.cast());
            let module = (f.LLVMModuleCreateWithNameInContext)(c"oracle".as_ptr(), context);
            (f.LLVMSetTarget)(module, TRIPLE.as_ptr());
            let layout = (f.LLVMCreateTargetDataLayout)(machine.as_ptr());
            (f.LLVMSetModuleDataLayout)(module, layout);
            (f.LLVMSetModuleInlineAsm2)(module, source.as_ptr().cast(), source.len());
            const OBJECT_FILE: c_int = 1;
            let mut message = ptr::null_mut();
            let mut buffer = ptr::null_mut();
            let failed = (f.LLVMTargetMachineEmitToMemoryBuffer)(
                machine.as_ptr(),
                module,
                OBJECT_FILE,
                &mut message,
                &mut buffer,
            ) != 0;
            if failed {
                failure = Some(f.take(message));
            } else if !buffer.is_null() {
                let start = (f.LLVMGetBufferStart)(buffer);
                let size = (f.LLVMGetBufferSize)(buffer);
                if !start.is_null() {
                    object.extend_from_slice(std::slice::from_raw_parts(start, size));
                }
                (f.LLVMDisposeMemoryBuffer)(buffer);
            }
            (f.LLVMDisposeTargetData)(layout);
            (f.LLVMDisposeModule)(module);
            (f.LLVMContextDispose)(context);
        }
        let mut errors = diagnostics.errors;
        errors.extend(failure);
        (object, errors)
    }
}

/// The instruction's index and the message of a diagnostic such as `<inline asm>:4:1: invalid operand` and the
/// source line after it.
fn failing_line(text: &str) -> Placed {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let mut parts = first.strip_prefix("<inline asm>:").unwrap_or_default().splitn(3, ':');
    let line = parts.next().and_then(|number| number.parse::<usize>().ok());
    let message = parts.nth(1).map_or(first, str::trim);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    (line.and_then(|line| Some(line.checked_sub(1)? / 2)), message.to_owned())
}

/// LLVM writes a tab before the mnemonic, and between it and the operands of some instructions.
fn normalise(text: &str) -> String {
    text.trim().replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_give_line_and_message() {
        let text = "<inline asm>:4:1: error: invalid instruction\nv_foo v1\n^\n";
        assert_eq!(failing_line(text), (Some(1), "invalid instruction".to_owned()));
        assert_eq!(failing_line("out of registers"), (None, "out of registers".to_owned()));
    }

    #[test]
    fn a_missing_library_is_named() {
        let error = Oracle::open(Path::new("no/such/libLLVM.so")).unwrap_err();
        assert!(error.to_string().contains("no/such/libLLVM.so"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_library_is_an_error() {
        let error = Oracle::open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))).unwrap_err();
        assert!(matches!(error, Error::Load(..)), "{error}");
    }
}
