import { describe, expect, it } from 'vitest';
import { describeError } from '../../../../client/emitter/describe-error.js';

describe('describeError', () => {
  it('names every address tried, of which the joint error of localhost says nothing', () => {
    const errors = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:9723`));
    expect(describeError(new AggregateError(errors))).toBe(
      'connect ECONNREFUSED ::1:9723; connect ECONNREFUSED 127.0.0.1:9723',
    );
  });

  it('always says something', () => {
    expect(describeError(Object.assign(new Error(''), { code: 'EPIPE' }))).toBe('EPIPE');
    expect(describeError(new AggregateError([]))).toBe('AggregateError');
    expect(describeError(undefined)).toBe('failed');
  });
});
