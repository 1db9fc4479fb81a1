export { commandLine } from './command-line.ts';
export { InputFile, type ProgramInput } from './input-file.ts';
export { failureText, lastLines, ProgramError, type ProgramFailure } from './program-error.ts';
export { type ProgramOptions, type ProgramResult, runProgram } from './run-program.ts';
