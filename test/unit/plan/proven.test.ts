import { describe, expect, it } from 'vitest';
import type { FilterFeature } from '../../../src/plan/plan.js';
import { proofsFor } from '../../../src/plan/proven.js';
import type { Effect, Proof, Proven } from '../../../src/schema/proofs.js';
import { EFFECTS, NOTHING_PROVEN } from '../../../src/schema/proofs.js';
import { proofsOf } from '../../support/made-up-policy.js';

/** Told apart by how every effect ended. */
const PROVEN: Proven = {
  listener: true,
  brokered: proofsOf('stopped'),
  refused: proofsOf('took-place'),
};
const WITHOUT: Proven = { ...PROVEN, listener: false, brokered: {} };

const METADATA: readonly Effect[] = [
  'metadata-mode',
  'metadata-owner',
  'metadata-times',
  'metadata-xattr',
  'metadata-flags',
  'set-id-mode',
];
const SOCKETS: readonly Effect[] = ['unix-connect', 'unix-datagram', 'abstract-connect'];
const OTHERS = EFFECTS.filter((effect) => ![...METADATA, ...SOCKETS].includes(effect));

type Row = readonly [
  string,
  readonly FilterFeature[],
  Proven,
  { metadata: Proof | undefined; sockets: Proof | undefined; others: Proof | undefined },
];
const BROKERED = 'stopped';
const REFUSED = 'took-place';

describe('the proofs of a plan are those of the way it has', () => {
  const rows: readonly Row[] = [
    [
      'both go to the broker',
      ['doors', 'broker-metadata', 'broker-sockets'],
      PROVEN,
      { metadata: BROKERED, sockets: BROKERED, others: BROKERED },
    ],
    [
      'metadata is refused',
      ['doors', 'refuse-metadata', 'broker-sockets'],
      PROVEN,
      { metadata: REFUSED, sockets: BROKERED, others: BROKERED },
    ],
    [
      'sockets are refused',
      ['doors', 'broker-metadata', 'no-unix-sockets'],
      PROVEN,
      { metadata: BROKERED, sockets: REFUSED, others: BROKERED },
    ],
    [
      'both are refused, nobody listens',
      ['doors', 'refuse-metadata', 'no-unix-sockets'],
      WITHOUT,
      { metadata: REFUSED, sockets: REFUSED, others: REFUSED },
    ],
    [
      'nobody listens, and nothing refuses: neither was tried so',
      ['doors'],
      WITHOUT,
      { metadata: undefined, sockets: undefined, others: REFUSED },
    ],
    [
      'nobody listens, nothing refuses, and that was tried',
      ['doors'],
      { ...WITHOUT, unjudged: proofsOf('stopped') },
      { metadata: 'stopped', sockets: 'stopped', others: REFUSED },
    ],
    [
      'what the filter judges is never taken from where it does not',
      ['doors', 'refuse-metadata', 'no-unix-sockets'],
      { ...WITHOUT, unjudged: proofsOf('stopped') },
      { metadata: REFUSED, sockets: REFUSED, others: REFUSED },
    ],
    [
      'nothing is filtered, and nothing was',
      [],
      WITHOUT,
      { metadata: REFUSED, sockets: REFUSED, others: REFUSED },
    ],
    [
      'nothing proven',
      ['doors', 'broker-metadata', 'broker-sockets'],
      NOTHING_PROVEN,
      { metadata: undefined, sockets: undefined, others: undefined },
    ],
  ];
  it.each(rows)('%s', (_name, filter, proven, expected) => {
    const proofs = proofsFor({ filter, namespaces: [] }, proven);
    for (const effect of METADATA) expect(proofs[effect], effect).toBe(expected.metadata);
    for (const effect of SOCKETS) expect(proofs[effect], effect).toBe(expected.sockets);
    for (const effect of OTHERS) expect(proofs[effect], effect).toBe(expected.others);
  });
});

describe('that hidden paths cannot be read', () => {
  const proven: Proven = { ...PROVEN, reading: 'stopped', refused: proofsOf('took-place') };
  const filter: readonly FilterFeature[] = ['refuse-metadata', 'no-unix-sockets'];
  const seen = (restrictsReading: boolean, of: Proven) =>
    proofsFor({ filter, namespaces: [], restrictsReading }, of)['hidden-read'];

  it('is proved for rules where rules were tried, and for nothing else', () => {
    expect(seen(true, proven)).toBe('stopped');
    expect(seen(false, { ...proven, brokered: proofsOf('took-place') })).toBe('took-place');
    expect(seen(true, { ...proven, reading: 'took-place' })).toBe('took-place');
    expect(seen(true, PROVEN)).toBe('not-tried');
  });

  it('says nothing of the other effects', () => {
    const proofs = proofsFor({ filter, namespaces: [], restrictsReading: true }, proven);
    expect(proofs['metadata-mode']).toBe('took-place');
  });
});
