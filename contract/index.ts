export * from './batch.js';
export * from './clock.js';
export * from './errors.js';
export * from './event.js';
export * from './json-schema.js';
export * from './lock-id.js';
export * from './outcomes.js';
export * from './resource.js';
