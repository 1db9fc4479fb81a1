export { type EventContent, nodeReference, type ObjectReference, type Reporter, serviceReference } from './event.ts';
export { EventRecorder, type EventRecorderOptions } from './event-recorder.ts';
