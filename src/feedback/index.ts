export { type EjectionReport, Feedback, type FeedbackOptions } from './feedback.ts';
