export { type EjectionReport, ejectionPortName, ejectionWords } from './ejection-report.ts';
export { Feedback } from './feedback.ts';
