/**
 * Our tree out of the parser's. What the parser reads otherwise than bash does is refused here.
 *
 * Nesting is worked off from a stack of our own: how deep a command line goes costs levels, never the call stack.
 * @module
 */

import type {
  ArithmeticExpression,
  CaseItem,
  CommandExpansionPart,
  CommandNode,
  CompoundList,
  HereDoc,
  ParameterExpansionPart,
  ParsedScript,
  PipelineNode,
  ProcessSubstitutionPart,
  Script,
  SimpleExpansionPart,
  Assignment as SourceAssignment,
  Command as SourceCommand,
  ParameterOperation as SourceOperation,
  Pipeline as SourcePipeline,
  Redirection as SourceRedirection,
  Word as SourceWord,
  Statement,
  TestExpression,
  WordPart,
} from 'unbash';
import { LIMITS } from '../schema/limits.js';
import { endsInBackslash, expandsInQuotes, literalPieces } from './literal.js';
import type {
  Arithmetic,
  Assignment,
  Command,
  Compound,
  List,
  ParameterOperation,
  Piece,
  Pipeline,
  Redirection,
  SimpleCommand,
  Span,
  Step,
  TestOperation,
  Unparsed,
  Word,
} from './tree.js';

/** Where a node stands: in which text, and, when that text is no part of the source, what of the source it came from. */
interface Place {
  readonly text: string;
  readonly origin: Span | undefined;
  readonly depth: number;
}

export interface Built {
  readonly body: List;
  readonly bashOnly: Span | undefined;
  readonly refusal: Unparsed | undefined;
  /** Spans of the source in which everything is data. */
  readonly quoted: readonly Span[];
}

/** Parameters that `declare` and its kind take as assignments stand among the words. */
const NUMBER = /^(?:0[xX][0-9a-fA-F]+|[0-9]+(?:#[0-9a-zA-Z@_]+)?)$/;
const ASSIGNING = /^(?:[-+*/%&^|]|<<|>>)?=$/;
/** Operations of a parameter that POSIX has. */
const POSIX_OPERATIONS: ReadonlySet<string> = new Set(['Default', 'Remove']);

/** Builds the tree of a parsed script. Total: what it cannot take is the `refusal`, and the body is incomplete then. */
export function build(script: ParsedScript, source: string): Built {
  const builder = new Builder();
  const place = { text: source, origin: undefined, depth: 0 };
  const body = builder.script(script, place);
  builder.finish();
  return { body, bashOnly: builder.bashOnly, refusal: builder.refusal, quoted: builder.quoted };
}

class Builder {
  refusal: Unparsed | undefined;
  bashOnly: Span | undefined;
  readonly quoted: Span[] = [];
  readonly #work: (() => void)[] = [];
  #nodes = 0;

  finish(): void {
    for (let work = this.#work.pop(); work !== undefined; work = this.#work.pop()) {
      if (this.refusal !== undefined) return;
      work();
    }
  }

  script(script: ParsedScript, place: Place): List {
    const error = script.errors?.[0];
    if (error !== undefined) this.#refuse('syntax', this.#at(error.pos, place), error.message);
    return this.#list(script, place);
  }

  #refuse(kind: Unparsed['kind'], at: number, reason: string): void {
    this.refusal ??= { kind, at, reason };
  }

  #at(position: number, place: Place): number {
    return place.origin?.start ?? position;
  }

  #span(node: { readonly pos: number; readonly end: number }, place: Place): Span {
    return place.origin ?? { start: node.pos, end: node.end };
  }

  #onlyBash(span: Span): void {
    if (this.bashOnly === undefined || span.start < this.bashOnly.start) this.bashOnly = span;
  }

  #count(span: Span): void {
    this.#nodes++;
    if (this.#nodes > LIMITS.commandNodes.value) {
      this.#refuse('too-many', span.start, 'it has more words than are judged');
    }
  }

  #later(place: Place, span: Span, work: (inner: Place) => void): void {
    const depth = place.depth + 1;
    if (depth > LIMITS.commandLevels.value) {
      this.#refuse('too-deep', span.start, 'its groups and substitutions go deeper than is judged');
      return;
    }
    this.#work.push(() => work({ ...place, depth }));
  }

  #list(node: Script | CompoundList, place: Place): List {
    const steps: Step[] = [];
    const span = this.#span(node, place);
    this.#later(place, span, (inner) => {
      for (const statement of node.commands) this.#statement(statement, inner, steps);
    });
    return { ...span, steps };
  }

  #statement(statement: Statement, place: Place, steps: Step[]): void {
    const background = statement.background === true;
    const { command } = statement;
    const first: Step['after'] = steps.length === 0 ? 'start' : 'sequence';
    if (command.type !== 'AndOr') {
      steps.push(this.#step(command, first, background, place));
      return;
    }
    command.commands.forEach((each, at) => {
      const operator = command.operators[at - 1];
      const after = operator === undefined ? first : operator === '&&' ? 'and' : 'or';
      steps.push(this.#step(each, after, background, place));
    });
  }

  #step(node: PipelineNode, after: Step['after'], background: boolean, place: Place): Step {
    const span = this.#span(node, place);
    return { ...span, pipeline: this.#pipeline(node, place), after, background };
  }

  #pipeline(node: PipelineNode, place: Place): Pipeline {
    const span = this.#span(node, place);
    if (node.type !== 'Pipeline') {
      return { ...span, commands: [this.#command(node, place)], timed: false, negated: false };
    }
    const isBare =
      node.commands.length === 0 ||
      node.commands.some(
        (each) => each.type === 'Command' && each.name === undefined && each.prefix.length === 0,
      );
    if (isBare) this.#refuse('syntax', span.start, 'a command is missing');
    if (node.operators.includes('|&') || isTimed(node)) this.#onlyBash(span);
    return {
      ...span,
      commands: node.commands.map((each) => this.#command(each, place)),
      timed: isTimed(node),
      negated: node.prefixes.some((each) => each.type === 'Negation'),
    };
  }

  #command(node: CommandNode | CompoundList, place: Place): Command {
    const span = this.#span(node, place);
    this.#count(span);
    if (node.type === 'Command') return this.#simple(node, place);
    if (node.type !== 'Redirected') return this.#compound(node, [], place);
    const redirections = node.redirects.map((each) => this.#redirection(each, place));
    return { ...this.#compound(node.command, redirections, place), ...span };
  }

  #simple(node: SourceCommand, place: Place): SimpleCommand {
    const assignments: Assignment[] = [];
    const redirections: Redirection[] = [];
    const words: (Word | Assignment)[] = [];
    for (const each of node.prefix) {
      if (each.type === 'Assignment') assignments.push(this.#assignment(each, place));
      else redirections.push(this.#redirection(each, place));
    }
    if (node.name !== undefined) words.push(this.#word(node.name, place));
    for (const each of node.suffix) {
      if (each.type === 'Word') words.push(this.#word(each, place));
      else if (each.type === 'Assignment') {
        if (each.value.type === 'ArrayValue' && redirections.length > 0) {
          this.#refuse('syntax', this.#at(each.pos, place), 'an array stands after a redirection');
        }
        words.push(this.#assignment(each, place));
      } else redirections.push(this.#redirection(each, place));
    }
    const name = node.name === undefined ? [] : [node.name];
    this.#gapless([...node.prefix, ...name, ...node.suffix], place);
    return { kind: 'simple', ...this.#span(node, place), assignments, words, redirections };
  }

  /** Between the words of a command stand blanks and nothing that was passed over. */
  #gapless(parts: readonly { readonly pos: number; readonly end: number }[], place: Place): void {
    let end: number | undefined;
    for (const part of parts) {
      const gap = end === undefined ? '' : place.text.slice(end, part.pos);
      if (!GAP.test(gap)) this.#refuse('syntax', this.#at(part.pos, place), NOT_UNDERSTOOD);
      end = part.end;
    }
    if (end !== undefined && OPENS.test(place.text.slice(end, end + OPENS_WITHIN))) {
      this.#refuse('syntax', this.#at(end, place), NOT_UNDERSTOOD);
    }
  }

  #compound(
    node: Exclude<CommandNode, { type: 'Command' | 'Redirected' }> | CompoundList,
    redirections: readonly Redirection[],
    place: Place,
  ): Compound {
    const common = { ...this.#span(node, place), redirections };
    switch (node.type) {
      case 'CompoundList':
        this.#refuse('syntax', common.start, 'a body is missing');
        return { kind: 'group', ...common, body: this.#list(node, place) };
      case 'BraceGroup':
        return { kind: 'group', ...common, body: this.#list(node.body, place) };
      case 'Subshell':
        return { kind: 'subshell', ...common, body: this.#list(node.body, place) };
      case 'If':
        return {
          kind: 'if',
          ...common,
          branches: [node, ...node.elif].map((each) => ({
            condition: this.#list(each.clause, place),
            body: this.#list(each.then, place),
          })),
          otherwise: node.else === undefined ? undefined : this.#list(node.else, place),
        };
      case 'While':
        return {
          kind: node.kind,
          ...common,
          condition: this.#list(node.clause, place),
          body: this.#list(node.body, place),
        };
      case 'For':
      case 'Select':
        if (node.type === 'Select') this.#onlyBash(common);
        if (!/^(?:for|select)(?:[ \t]|\\\n)+$/.test(place.text.slice(node.pos, node.name.pos))) {
          this.#refuse('syntax', common.start, NOT_UNDERSTOOD);
        }
        return {
          kind: node.type === 'For' ? 'for' : 'select',
          ...common,
          name: node.name.value,
          words: node.wordlist?.map((each) => this.#word(each, place)),
          body: this.#list(node.body, place),
        };
      case 'ArithmeticFor':
        this.#onlyBash(common);
        if (!/^for(?:[ \t]|\\\n)*\(\(/.test(place.text.slice(node.pos, node.end))) {
          this.#refuse('syntax', common.start, NOT_UNDERSTOOD);
        }
        return {
          kind: 'arithmetic-for',
          ...common,
          expressions: [node.initialize, node.test, node.update].flatMap((each) =>
            each === undefined ? [] : [this.#arithmetic(each, each, place)],
          ),
          body: this.#list(node.body, place),
        };
      case 'Case':
        return {
          kind: 'case',
          ...common,
          subject: this.#word(node.word, place),
          items: node.items.map((each) => this.#item(each, place)),
        };
      case 'TestCommand':
        this.#onlyBash(common);
        return { kind: 'test', ...common, operations: this.#tests(node.expression, place) };
      case 'ArithmeticCommand':
        this.#onlyBash(common);
        return {
          kind: 'arithmetic',
          ...common,
          expression: this.#arithmetic(node.expression, node, place),
        };
      case 'Function':
        if (place.text.startsWith('function', node.pos)) this.#onlyBash(common);
        return {
          kind: 'function',
          ...common,
          name: node.name.value,
          body: this.#alone(node.body, place),
        };
      case 'Coproc':
        this.#onlyBash(common);
        return { kind: 'coprocess', ...common, body: this.#alone(node.body, place) };
    }
  }

  /** A list of one command. */
  #alone(node: CommandNode | CompoundList, place: Place): List {
    const steps: Step[] = [];
    const span = this.#span(node, place);
    this.#later(place, span, (inner) => {
      const command = this.#command(node, inner);
      const pipeline = { ...span, commands: [command], timed: false, negated: false };
      steps.push({ ...span, pipeline, after: 'start', background: false });
    });
    return { ...span, steps };
  }

  #item(node: CaseItem, place: Place): { patterns: readonly Word[]; body: List } {
    if (node.terminator === ';&' || node.terminator === ';;&') {
      this.#onlyBash(this.#span(node, place));
    }
    return {
      patterns: node.pattern.map((each) => this.#word(each, place)),
      body: this.#list(node.body, place),
    };
  }

  #tests(expression: TestExpression, place: Place): readonly TestOperation[] {
    const operations: TestOperation[] = [];
    const open = [expression];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      this.#count(this.#span(node, place));
      if (node.type === 'TestLogical') open.push(...node.operands);
      else if (node.type === 'TestNot') open.push(node.operand);
      else if (node.type === 'TestGroup') open.push(node.expression);
      else {
        const operands = node.type === 'TestUnary' ? [node.operand] : [node.left, node.right];
        operations.push({
          ...this.#span(node, place),
          operator: node.operator,
          operands: operands.map((each) => this.#word(each, place, 'test')),
        });
      }
    }
    return operations;
  }

  #assignment(node: SourceAssignment, place: Place): Assignment {
    const span = this.#span(node, place);
    const { value } = node;
    if (value.type === 'ArrayValue' || node.append === true || node.index !== undefined) {
      this.#onlyBash(span);
    }
    return {
      ...span,
      name: node.name,
      append: node.append === true,
      index: node.index === undefined ? undefined : this.#inner(node.index, place),
      value:
        value.type === 'Word'
          ? this.#word(value, place)
          : value.elements.map((each) => this.#word(each, place)),
    };
  }

  #redirection(node: SourceRedirection, place: Place): Redirection {
    const span = this.#span(node, place);
    this.#count(span);
    const descriptor =
      node.descriptor === undefined
        ? undefined
        : node.descriptor.type === 'FileDescriptor'
          ? node.descriptor.value
          : { variable: node.descriptor.name };
    if (typeof descriptor === 'object') this.#onlyBash(span);
    if (node.type === 'HereDoc') return this.#hereDocument(node, descriptor, place);
    if (node.target === undefined) {
      this.#refuse('incomplete', span.end, 'a redirection lacks its target');
      return { ...span, descriptor, kind: 'here-string', body: { ...span, pieces: [] } };
    }
    const target = this.#word(node.target, place);
    if (
      /^(?:\d+|\{\w+\})$/.test(node.target.text) &&
      /[<>]/.test(place.text[node.target.end] ?? '')
    ) {
      this.#refuse('syntax', span.end, 'a redirection lacks its target');
    }
    if (node.type === 'HereString') {
      this.#onlyBash(span);
      return { ...span, descriptor, kind: 'here-string', body: target };
    }
    const { operator } = node;
    const duplicates = operator === '>&' || operator === '<&';
    if (operator.startsWith('&') || (duplicates && !/^(?:\d+|-)$/.test(node.target.text))) {
      this.#onlyBash(span);
    }
    return { ...span, descriptor, kind: 'file', operator, target };
  }

  #hereDocument(node: HereDoc, descriptor: Redirection['descriptor'], place: Place): Redirection {
    const span = this.#span(node, place);
    const { body, delimiter } = node;
    if (node.closing === undefined || delimiter === undefined) {
      this.#refuse('incomplete', span.start, 'the here-document has no end');
    }
    const quoted = delimiter?.quoted === true;
    const bodySpan = this.#span(body, place);
    if (quoted) this.#quote(bodySpan, place);
    const text: Piece = { ...bodySpan, kind: 'text', value: body.text, quoted: true };
    const pieces: Piece[] = [];
    if (quoted) pieces.push(text);
    else if (body.parts === undefined) this.#quotedText(body.text, text, bodySpan, place, pieces);
    else this.#pieces(body.parts, true, place, false, pieces);
    const word = { ...bodySpan, pieces };
    return { ...span, descriptor, kind: 'here-document', quoted, body: word };
  }

  #quotedText(written: string, text: Piece, span: Span, place: Place, into: Piece[]): void {
    if (expandsInQuotes(written)) this.#refuse('syntax', span.start, NOT_UNDERSTOOD);
    this.#quote(span, place);
    into.push(text);
  }

  #quote(span: Span, place: Place): void {
    if (place.origin === undefined) this.quoted.push(span);
  }

  #word(node: SourceWord, place: Place, as: WordPlace = 'argument'): Word {
    const span = this.#span(node, place);
    this.#count(span);
    const pieces: Piece[] = [];
    const { parts } = node;
    if (parts === undefined) this.#literal(node.text, node.pos, place, pieces);
    else this.#pieces(parts, false, place, as !== 'argument', pieces);
    if (node.end >= place.text.length && endsInBackslash(node.text)) {
      this.#refuse('incomplete', span.end, 'it ends in a backslash');
    }
    if (pieces.some(isDollarBefore)) {
      this.#refuse('syntax', span.start, NOT_UNDERSTOOD);
    }
    if (pieces.some((each) => hasOperator(each, OPERATORS[as]))) {
      this.#refuse('syntax', span.start, 'an operator stands where a word is expected');
    }
    return { ...span, pieces };
  }

  /** The same for a word within a word. */
  #inner(node: SourceWord, place: Place): Word {
    const span = this.#span(node, place);
    const pieces: Piece[] = [];
    this.#later(place, span, (inner) => pieces.push(...this.#word(node, inner, 'inner').pieces));
    return { ...span, pieces };
  }

  #literal(text: string, start: number, place: Place, into: Piece[]): void {
    const pieces = literalPieces(text, start);
    if (pieces === undefined) {
      this.#refuse('syntax', this.#at(start, place), NOT_UNDERSTOOD);
      return;
    }
    for (const each of pieces) {
      if (each.kind === 'text' && each.quoted) this.#quote(each, place);
      into.push(place.origin === undefined ? each : { ...each, ...place.origin });
    }
  }

  #pieces(
    parts: readonly WordPart[],
    quoted: boolean,
    place: Place,
    patterns: boolean,
    into: Piece[],
  ): void {
    for (const part of parts) this.#piece(part, quoted, place, patterns, into);
  }

  #piece(part: WordPart, quoted: boolean, place: Place, patterns: boolean, into: Piece[]): void {
    const span = this.#span(part, place);
    this.#count(span);
    switch (part.type) {
      case 'Literal': {
        if (!quoted) {
          this.#literal(part.text, part.pos, place, into);
          return;
        }
        const text: Piece = { ...span, kind: 'text', value: part.value, quoted: true };
        this.#quotedText(part.text, text, span, place, into);
        return;
      }
      case 'Glob':
        if (part.parts === undefined) this.#literal(part.text, part.pos, place, into);
        else this.#enclosed('[', part.parts, ']', span, place, patterns, into);
        return;
      case 'BraceExpansion':
        this.#onlyBash(span);
        if (part.parts === undefined) this.#literal(part.text, part.pos, place, into);
        else this.#enclosed('{', part.parts, '}', span, place, patterns, into);
        return;
      case 'ExtendedGlob':
        if (!patterns) {
          this.#refuse(
            'syntax',
            span.start,
            'a pattern with an operator is read with extglob only',
          );
        }
        this.#onlyBash(span);
        if (part.parts === undefined) this.#literal(part.text, part.pos, place, into);
        else {
          this.#enclosed(`${part.operator}(`, part.parts, ')', span, place, patterns, into);
        }
        return;
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        if (part.type === 'AnsiCQuoted') this.#onlyBash(span);
        this.#quote(span, place);
        into.push({ ...span, kind: 'text', value: part.value, quoted: true });
        return;
      case 'LocaleString':
        this.#onlyBash(span);
        this.#refuse('syntax', span.start, 'text that is translated before it is read');
        return;
      case 'DoubleQuoted':
        // An empty piece, so that `""` makes a word.
        into.push({ ...span, kind: 'text', value: '', quoted: true });
        this.#pieces(part.parts, true, place, false, into);
        return;
      case 'SimpleExpansion':
      case 'ParameterExpansion':
        into.push(this.#parameter(part, quoted, place));
        return;
      case 'CommandExpansion':
        if (part.text.startsWith('${')) {
          this.#refuse('syntax', span.start, 'a substitution that only newer shells know');
        }
        into.push({ ...span, kind: 'substitution', quoted, body: this.#nested(part, place) });
        return;
      case 'ProcessSubstitution': {
        this.#onlyBash(span);
        const direction = part.operator === '<' ? 'in' : 'out';
        into.push({ ...span, kind: 'process', direction, body: this.#nested(part, place) });
        return;
      }
      case 'ArithmeticExpansion': {
        if (part.text.startsWith('$[')) this.#onlyBash(span);
        if (part.text.startsWith('$[') && part.text.includes('[', 2)) {
          this.#refuse('syntax', span.start, NOT_UNDERSTOOD);
        }
        const expression = this.#arithmetic(part.expression, part, place);
        into.push({ ...span, kind: 'arithmetic', quoted, expression });
        return;
      }
    }
  }

  #enclosed(
    opening: string,
    parts: readonly WordPart[],
    closing: string,
    span: Span,
    place: Place,
    patterns: boolean,
    into: Piece[],
  ): void {
    const text = (value: string): Piece => ({ ...span, kind: 'text', value, quoted: false });
    into.push(text(opening));
    this.#pieces(parts, false, { ...place, depth: place.depth + 1 }, patterns, into);
    into.push(text(closing));
  }

  #parameter(
    part: SimpleExpansionPart | ParameterExpansionPart,
    quoted: boolean,
    place: Place,
  ): Piece {
    const span = this.#span(part, place);
    if (part.type === 'SimpleExpansion') {
      const name = part.text.slice(1);
      const none = { prefix: undefined, index: undefined, operation: undefined };
      return { ...span, kind: 'parameter', name, quoted, ...none };
    }
    const { prefix, index, operation } = part;
    if (prefix === '!' || index !== undefined || !isPosix(operation)) this.#onlyBash(span);
    return {
      ...span,
      kind: 'parameter',
      name: part.parameter,
      quoted,
      prefix,
      index: index === undefined ? undefined : this.#inner(index, place),
      operation: operation === undefined ? undefined : this.#operation(operation, place),
    };
  }

  #operation(node: SourceOperation, place: Place): ParameterOperation {
    const { operator } = node;
    if (node.type === 'Unknown') this.#refuse('syntax', this.#at(node.pos, place), NOT_UNDERSTOOD);
    const operands = operandsOf(node).map((each) => this.#inner(each, place));
    return { operator, operands };
  }

  #nested(part: CommandExpansionPart | ProcessSubstitutionPart, place: Place): List {
    const span = this.#span(part, place);
    const steps: Step[] = [];
    const isClosed = part.text.startsWith('`') ? /^`[\s\S]*`$/ : /\)$/;
    if (!isClosed.test(part.text)) this.#refuse('syntax', span.start, NOT_UNDERSTOOD);
    this.#later(place, span, (inner) => {
      const { script } = part;
      if (script === undefined) {
        this.#refuse('syntax', span.start, 'a substitution cannot be read');
        return;
      }
      const own = script.source;
      const decoded = own === undefined || own === inner.text ? inner : moved(inner, own, span);
      for (const error of script.errors ?? []) {
        this.#refuse('syntax', this.#at(error.pos, decoded), error.message);
      }
      for (const each of script.commands) this.#statement(each, decoded, steps);
    });
    return { ...span, steps };
  }

  #arithmetic(
    expression: ArithmeticExpression | undefined,
    node: { readonly pos: number; readonly end: number },
    place: Place,
  ): Arithmetic {
    const span = this.#span(node, place);
    const operands: Word[] = [];
    const assigned: Word[] = [];
    const covered: Span[] = [];
    const open: { node: ArithmeticExpression; assigns: boolean }[] = [];
    if (expression !== undefined) open.push({ node: expression, assigns: false });
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const each = at.node;
      this.#count(span);
      if (each.type === 'ArithmeticWord' || each.type === 'ArithmeticCommandExpansion') {
        covered.push({ start: each.pos, end: each.end });
        const word = this.#operand(each, place);
        if (word === undefined) continue;
        operands.push(word);
        if (at.assigns) assigned.push(word);
      } else open.push(...arithmeticChildren(each));
    }
    if (!covers(place.text, node, covered)) this.#refuse('syntax', span.start, NOT_UNDERSTOOD);
    return { ...span, operands, assigned };
  }

  #operand(
    node: ArithmeticExpression & { type: 'ArithmeticWord' | 'ArithmeticCommandExpansion' },
    place: Place,
  ): Word | undefined {
    const span = this.#span(node, place);
    const pieces: Piece[] = [];
    if (node.type === 'ArithmeticCommandExpansion') {
      const part = { ...node, type: 'CommandExpansion' as const, script: node.script };
      pieces.push({ ...span, kind: 'substitution', quoted: true, body: this.#nested(part, place) });
      return { ...span, pieces };
    }
    if (NUMBER.test(node.value)) return undefined;
    if (node.parts === undefined) this.#literal(node.value, node.pos, place, pieces);
    else this.#pieces(node.parts, false, place, false, pieces);
    return { ...span, pieces };
  }
}

const NOT_UNDERSTOOD = 'it holds something that is not understood';

/** After a command nothing is opened: it would be the parentheses of a function that has none. */
const OPENS = /^(?:[ \t]|\\\n)*\(/;
const OPENS_WITHIN = 64;
const GAP = /^(?:[ \t]|\\\n)*$/;

/** Where a word stands: in `[[ … ]]`, and within another word, more is text. */
type WordPlace = 'argument' | 'test' | 'inner';

/** What ends a word outside quotes, by where it stands. */
const OPERATORS: Readonly<Record<WordPlace, RegExp | undefined>> = {
  argument: /[;&|<>() \t\n]/,
  test: /[;&<> \t\n]/,
  inner: undefined,
};

/** Whether a dollar that was left over stands right before what it would expand. */
function isDollarBefore(piece: Piece, at: number, pieces: readonly Piece[]): boolean {
  const next = pieces[at + 1];
  if (piece.kind !== 'text' || piece.quoted || !piece.value.endsWith('$')) return false;
  return next?.kind === 'text' && !next.quoted && /^[[({\w]/.test(next.value);
}

function hasOperator(piece: Piece, operators: RegExp | undefined): boolean {
  return piece.kind === 'text' && !piece.quoted && operators?.test(piece.value) === true;
}

function moved(place: Place, text: string, span: Span): Place {
  return { ...place, text, origin: place.origin ?? span };
}

function isTimed(node: SourcePipeline): boolean {
  return node.prefixes.some((each) => each.type === 'Time');
}

function isPosix(operation: SourceOperation | undefined): boolean {
  return operation === undefined || POSIX_OPERATIONS.has(operation.type);
}

function operandsOf(node: SourceOperation): readonly SourceWord[] {
  switch (node.type) {
    case 'Default':
    case 'Remove':
    case 'Transform':
      return [node.operand];
    case 'Replace':
      return [node.pattern, node.replacement];
    case 'Slice':
      return node.length === undefined ? [node.offset] : [node.offset, node.length];
    case 'CaseModification':
      return node.operand === undefined ? [] : [node.operand];
    case 'Names':
    case 'Unknown':
      return [];
  }
}

function arithmeticChildren(
  node: Exclude<ArithmeticExpression, { type: 'ArithmeticWord' | 'ArithmeticCommandExpansion' }>,
): readonly { node: ArithmeticExpression; assigns: boolean }[] {
  switch (node.type) {
    case 'ArithmeticBinary':
      return [
        { node: node.left, assigns: ASSIGNING.test(node.operator) },
        { node: node.right, assigns: false },
      ];
    case 'ArithmeticUnary':
      return [{ node: node.operand, assigns: node.operator === '++' || node.operator === '--' }];
    case 'ArithmeticTernary':
      return [node.test, node.consequent, node.alternate].map((each) => ({
        node: each,
        assigns: false,
      }));
    case 'ArithmeticGroup':
      return [{ node: node.expression, assigns: false }];
  }
}

/** Whether every character that may begin an expansion or a subscript lies in an operand that was read. */
function covers(
  text: string,
  node: { readonly pos: number; readonly end: number },
  covered: readonly Span[],
): boolean {
  const inside = text.slice(node.pos, node.end);
  const from = /^\$?(?:\(\(|\[)/.exec(inside)?.[0].length ?? 0;
  const marks = [...inside.slice(from).matchAll(/[$`[A-Za-z_'"]/g)];
  const spans = [...covered].sort((one, other) => one.start - other.start);
  let next = 0;
  return marks.every((mark) => {
    const at = node.pos + from + mark.index;
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= at) next++;
    return (spans[next]?.start ?? Number.POSITIVE_INFINITY) <= at;
  });
}
