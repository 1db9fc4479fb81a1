export { Feedback, type FeedbackOptions } from './feedback.ts';
