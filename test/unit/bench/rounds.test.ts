import { describe, expect, it } from 'vitest';
import { measureInRounds } from '../../bench/rounds.js';

describe('rounds of a bench', () => {
  it('let each candidate take one turn a round, in changing order, after one round to warm up', async () => {
    const turns: string[] = [];
    const candidate = (name: string) => ({
      name,
      run: () => new Promise((resolve) => setImmediate(resolve)),
      settle: async () => {
        turns.push(name);
      },
    });
    const measured = await measureInRounds(['a', 'b', 'c'].map(candidate), {
      rounds: 8,
      turnMs: 1,
      callers: 1,
    });

    const rounds = Array.from({ length: 9 }, (_, round) => turns.slice(round * 3, round * 3 + 3));
    expect(rounds.map((round) => round.toSorted().join(''))).toEqual(Array(9).fill('abc'));
    expect(new Set(rounds.map((round) => round.join(''))).size).toBeGreaterThan(2);
    expect(measured.get('a')?.rates).toHaveLength(8);
    expect(measured.get('b')?.rates.every((rate) => rate > 0)).toBe(true);
  });

  it('run all callers at once, and no caller twice at the same time', async () => {
    const inside = new Set<number>();
    let most = 0;
    const run = async (caller: number) => {
      expect(inside.has(caller)).toBe(false);
      inside.add(caller);
      most = Math.max(most, inside.size);
      await new Promise((resolve) => setImmediate(resolve));
      inside.delete(caller);
    };
    await measureInRounds([{ name: 'a', run }], { rounds: 1, turnMs: 5, callers: 8 });

    expect(most).toBe(8);
    expect(inside.size).toBe(0);
  });

  it('fail with the candidate that fails: a wrong answer is not a fast one', async () => {
    const run = async () => {
      throw new Error('no lock');
    };
    await expect(measureInRounds([{ name: 'a', run }], { rounds: 1, turnMs: 1, callers: 2 })).rejects.toThrow(
      'no lock',
    );
  });
});
