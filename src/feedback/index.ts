export { type EjectionReport, ejectionPortName, ejectionWords, type LeftOut } from './ejection-report.ts';
export { Feedback, type FeedbackOptions } from './feedback.ts';
