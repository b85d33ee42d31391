//! Whole runs through the program's own machine, told what came of each attempt.

mod allotted;
mod drawn;
mod failing;
mod run;
mod support;
