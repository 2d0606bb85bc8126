import { describe, expect, it } from 'vitest';
import { parsePromql } from '../../support/promql.js';

describe('a parsed PromQL query', () => {
  it('shows each selector with its matchers, window and what it is wrapped in', () => {
    const tree = parsePromql('sum by (le) (rate(a_bucket{job="x",le=~"1|2"}[5m])) / on () b{c!~"d\\\\."}');
    expect(tree.selectors()).toEqual([
      {
        name: 'a_bucket',
        matchers: [
          { label: 'job', op: '=', value: 'x' },
          { label: 'le', op: '=~', value: '1|2' },
        ],
        range: '5m',
        within: ['rate', 'sum'],
      },
      { name: 'b', matchers: [{ label: 'c', op: '!~', value: 'd\\.' }], within: [] },
    ]);
    expect(tree.errors()).toEqual([]);
  });

  it('finds the name in quotes and in __name__', () => {
    expect(parsePromql('{__name__="a", b="c"}').selectors()[0]).toMatchObject({
      name: 'a',
      matchers: [{ label: 'b' }],
    });
    expect(parsePromql('{"a.b", c="d"}').selectors()[0]).toMatchObject({ name: 'a.b' });
  });

  it('reads the variables of Grafana outside of strings and gives them back as written', () => {
    const tree = parsePromql('topk($n, rate(a_total{job=~"$job"}[$__rate_interval])) > $limit');
    expect(tree.errors()).toEqual([]);
    expect(tree.selectors()[0]).toMatchObject({ range: '$__rate_interval', matchers: [{ value: '$job' }] });
  });

  it('lists functions, aggregations, operators and subqueries', () => {
    const tree = parsePromql('max without (pod) (max_over_time((a > bool 1)[5m:1m])) and on (b) count(c)');
    expect(tree.functions()).toEqual(['max_over_time']);
    expect(tree.aggregations()).toEqual([
      { op: 'max', without: ['pod'], body: 'max_over_time((a > bool 1)[5m:1m])' },
      { op: 'count', body: 'c' },
    ]);
    expect(tree.binaries().map(({ op, bool, on }) => ({ op, bool, on }))).toEqual([
      { op: 'and', bool: false, on: ['b'] },
      { op: '>', bool: true, on: undefined },
    ]);
    expect(tree.subqueries()).toEqual(['(a > bool 1)[5m:1m]']);
  });

  it.each([
    ['a > 1', true],
    ['(a > 1) and b', true],
    ['a unless b > 1', false],
    ['a > 1 or b < 2', true],
    ['a > 1 or b', false],
    ['a > bool 1', false],
    ['sum(a > 1)', false],
  ])('knows whether %s is filtered by a comparison: %s', (text, expected) => {
    expect(parsePromql(text).topIsComparison()).toBe(expected);
  });

  it.each(['sum(', 'a{b=}', 'rate(a[5])[', ''])('says where %j is no PromQL', (text) => {
    expect(parsePromql(text).errors()).not.toEqual([]);
  });
});
