/**
 * The walk through a command line: every command that any way through it starts, with what is known at that point.
 * @module
 */

import { posix } from 'node:path';
import { LIMITS } from '../schema/limits.js';
import { parse } from '../shell/parse.js';
import type {
  Arithmetic,
  Assignment,
  Command,
  Compound,
  List,
  Pipeline,
  Redirection,
  SimpleCommand,
  Span,
  TestOperation,
  Word,
} from '../shell/tree.js';
import { BUILTINS, BUILTINS_THAT_ARE_PROGRAMS, type Shell } from './builtins.js';
import { loosened } from './changes.js';
import type { Call, Effect, Judgement, Token } from './effect.js';
import {
  evaluateWord,
  expansionOf,
  judgeArithmetic,
  judgeExpressionText,
  judgeNumber,
} from './evaluation.js';
import { expandValue, expandWord, unknownToken } from './expand.js';
import type { Part, Surroundings } from './part.js';
import { type Finding, isReading, Places, worse } from './places.js';
import { programOf } from './programs.js';
import {
  ARRAY_VALUE,
  forgetting,
  freshState,
  INTEGER_VALUE,
  merged,
  type State,
  UNKNOWN_VALUE,
  type Value,
  withFunction,
  withVariable,
} from './state.js';
import { isHarmlessVariable, isPowerfulVariable } from './variables.js';

/** Where names of programs are those of the system. */
const SYSTEM_PROGRAMS: ReadonlySet<string> = new Set([
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
]);
/** Rounds of a loop over literal words that are judged one by one. */
const MOST_ROUNDS = 16;
/** Operators of `[[ … ]]` that evaluate both operands as arithmetic. */
const ARITHMETIC_TESTS: ReadonlySet<string> = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);
const NAME_TESTS: ReadonlySet<string> = new Set(['-v', '-R']);

const LEAVING: ReadonlySet<string> = new Set(['break', 'continue', 'return']);

/** How a command is found by its name. */
interface Lookup {
  readonly functions: boolean;
  readonly builtins: 'all' | 'programs';
}
const AS_WRITTEN: Lookup = { functions: true, builtins: 'all' };
const WITHOUT_FUNCTIONS: Lookup = { functions: false, builtins: 'all' };
const AS_PROGRAM: Lookup = { functions: false, builtins: 'programs' };

/** What one command was found to do. */
interface Verdict {
  finding: Finding & { readonly at: Span };
  readOnly: boolean;
  faithful: boolean;
}

interface Origin {
  readonly source: string;
  /** Where nested text stands in the line that was given. */
  readonly span: Span | undefined;
}

/** The walk. It collects the parts; `classify` and `classifyArgv` begin it. */
export class Walk {
  readonly parts: Part[] = [];
  readonly #surroundings: Surroundings;
  readonly #places: Places;
  #state: State;
  #origin: Origin;
  #depth = 0;
  #commands = 0;
  #words = 0;
  #verdict: Verdict | undefined;
  /** What held where a loop or a function may have been left before its end. */
  #exits: State[] = [];
  /** Functions that no call was found of, yet. */
  readonly #uncalled = new Map<List, Span>();

  constructor(surroundings: Surroundings, source: string) {
    this.#surroundings = surroundings;
    this.#places = new Places(surroundings);
    this.#state = freshState([posix.normalize(surroundings.cwd)]);
    this.#origin = { source, span: undefined };
  }

  /** Judges a whole line. */
  line(body: List): void {
    this.#list(body);
    for (const [list] of this.#uncalled) {
      this.#state = this.#anything();
      this.#nested(list, () => this.#list(list));
    }
  }

  /** Judges the words of a command that no shell reads. */
  argv(tokens: readonly Token[]): void {
    const [first] = tokens;
    if (first !== undefined) this.#run(tokens, first, 'inherited', AS_PROGRAM, true);
  }

  #span(span: Span): Span {
    return this.#origin.span ?? { start: span.start, end: span.end };
  }

  /** Words of nested text stand where that text stands. */
  #placed(tokens: readonly Token[]): readonly Token[] {
    const { span } = this.#origin;
    return span === undefined ? tokens : tokens.map((each) => ({ ...each, ...span }));
  }

  #list(list: List): void {
    /** Where the chain of `&&` and `||` may have stopped. */
    let seen: State[] = [this.#state];
    for (const step of list.steps) {
      if (step.after === 'sequence' || step.after === 'or') {
        this.#state = merged(seen);
        if (step.after === 'sequence') seen = [this.#state];
      }
      if (step.background) this.#subshell(() => this.#pipeline(step.pipeline));
      else this.#pipeline(step.pipeline);
      if (seen.at(-1) !== this.#state) seen = [merged(seen), this.#state];
      if (step.after === 'start' || step.after === 'sequence')
        seen = this.#settled(seen, step.pipeline);
    }
  }

  /** After a command that always runs, only a change of directory may have failed. */
  #settled(seen: readonly State[], pipeline: Pipeline): State[] {
    const [only] = pipeline.commands;
    const isAlone = pipeline.commands.length === 1 && only?.kind === 'simple';
    // A redirection that fails keeps the command from running.
    const isPlain = isAlone && only.redirections.length === 0;
    const first = seen[0];
    if (!isPlain || first === undefined) return [...seen];
    return first.cwds === this.#state.cwds ? [this.#state] : [...seen];
  }

  #pipeline(pipeline: Pipeline): void {
    const [only] = pipeline.commands;
    if (pipeline.commands.length === 1 && only !== undefined) {
      const before = this.#state;
      this.#command(only, 'inherited');
      // What follows a success that was negated follows a failure.
      if (pipeline.negated) this.#state = merged([before, this.#state]);
      return;
    }
    pipeline.commands.forEach((command, at) => {
      this.#subshell(() => this.#command(command, at === 0 ? 'inherited' : 'given'));
    });
  }

  #subshell(work: () => void): void {
    const before = this.#state;
    work();
    this.#state = before;
  }

  /** Does `work` one level deeper, or says that it is too deep to judge. */
  #nested(span: Span, work: () => void): void {
    if (this.#depth >= LIMITS.commandLevels.value) {
      this.#alone(span, 'unknown', 'it goes deeper than is judged');
      return;
    }
    this.#depth++;
    const verdict = this.#verdict;
    this.#verdict = undefined;
    work();
    this.#verdict = verdict;
    this.#depth--;
  }

  #command(command: Command, input: Call['input']): void {
    this.#commands++;
    if (this.#commands > LIMITS.commandParts.value) {
      if (this.#commands === LIMITS.commandParts.value + 1) {
        this.#alone(command, 'unknown', 'it starts more commands than are judged');
      }
      return;
    }
    if (command.kind === 'simple') this.#simple(command, input);
    else this.#compound(command);
  }

  /** The state in which nothing is known but what was defined. */
  #anything(): State {
    return { ...forgetting(this.#state), cwds: undefined, positional: undefined };
  }

  #compound(command: Compound): void {
    for (const each of command.redirections) this.#redirection(each);
    switch (command.kind) {
      case 'group':
        this.#list(command.body);
        return;
      case 'subshell':
        this.#subshell(() => this.#list(command.body));
        return;
      case 'coprocess':
        this.#subshell(() => this.#list(command.body));
        this.#forget();
        return;
      case 'if':
        this.#branches(command);
        return;
      case 'while':
      case 'until':
        this.#loop([command.condition, command.body], () => {
          const before = this.#state;
          this.#list(command.condition);
          this.#state = merged([before, this.#state]);
          this.#list(command.body);
        });
        return;
      case 'for':
        this.#for(command);
        return;
      case 'select':
        this.#expanded(command.words ?? [], command);
        this.#loop([command.body], () => {
          this.#assign(command.name, UNKNOWN_VALUE);
          this.#list(command.body);
        });
        return;
      case 'arithmetic-for':
        this.#arithmeticFor(command.expressions, command);
        return;
      case 'case':
        this.#case(command);
        return;
      case 'test':
        this.#judged(command, [], () => {
          for (const each of command.operations) this.#test(each);
        });
        return;
      case 'arithmetic':
        this.#judged(command, [], () => judgeArithmetic(command.expression, this.#shell));
        return;
      case 'function':
        this.#define(command.name, command.body, command);
        return;
    }
  }

  #forget(): void {
    this.#state = forgetting(this.#state);
  }

  #branches(command: Compound & { kind: 'if' }): void {
    const ends: State[] = [];
    for (const { condition, body } of command.branches) {
      const before = this.#state;
      this.#list(condition);
      const conditionEnd = merged([before, this.#state]);
      this.#state = conditionEnd;
      this.#list(body);
      ends.push(merged([conditionEnd, this.#state]));
      this.#state = conditionEnd;
    }
    if (command.otherwise !== undefined) this.#list(command.otherwise);
    this.#state = merged([...ends, this.#state]);
  }

  #loop(lists: readonly List[], work: () => void, words: readonly Word[] = []): void {
    this.#state = loosened(this.#state, lists, words);
    const before = this.#state;
    this.#leavable(work);
    this.#state = merged([before, this.#state]);
  }

  /** Does `work`, which may be left by `break`, `continue` or `return` anywhere in it. */
  #leavable(work: () => void): void {
    const outer = this.#exits;
    this.#exits = [];
    work();
    this.#state = merged([this.#state, ...this.#exits]);
    // `break 2` leaves the loop around this one too.
    this.#exits = [...outer, ...this.#exits].slice(-MOST_ROUNDS);
  }

  #for(command: Compound & { kind: 'for' | 'select' }): void {
    const tokens = this.#expanded(command.words ?? [], command);
    const values = tokens.map(roundValue);
    const isKnown = values.every((each) => each !== undefined) && command.words !== undefined;
    if (isKnown && values.length <= MOST_ROUNDS) {
      for (const value of values) {
        const before = this.#state;
        this.#assign(command.name, value);
        this.#leavable(() => this.#list(command.body));
        this.#state = merged([before, this.#state]);
      }
      return;
    }
    this.#loop([command.body], () => {
      this.#assign(command.name, UNKNOWN_VALUE);
      this.#list(command.body);
    });
  }

  #arithmeticFor(expressions: readonly Arithmetic[], command: Compound & { body: List }): void {
    const [first, ...others] = expressions;
    this.#judged(command, [], () => {
      if (first !== undefined) judgeArithmetic(first, this.#shell);
    });
    const assigned = others.flatMap((each) => each.assigned);
    this.#loop(
      [command.body],
      () => {
        this.#judged(command, [], () => {
          for (const each of others) judgeArithmetic(each, this.#shell);
        });
        this.#list(command.body);
      },
      assigned,
    );
  }

  #case(command: Compound & { kind: 'case' }): void {
    this.#judged(command, [], () => {
      evaluateWord(command.subject, this.#shell);
      for (const item of command.items) {
        for (const each of item.patterns) evaluateWord(each, this.#shell);
      }
    });
    const before = this.#state;
    const ends = command.items.map((item) => {
      this.#state = merged([before, this.#state]);
      this.#list(item.body);
      return this.#state;
    });
    this.#state = merged([before, ...ends]);
  }

  #test(operation: TestOperation): void {
    const { operator, operands } = operation;
    for (const each of operands) {
      if (ARITHMETIC_TESTS.has(operator)) {
        judgeNumber(each, this.#shell);
        continue;
      }
      const { value } = evaluateWord(each, this.#shell);
      if (NAME_TESTS.has(operator) && (value === undefined || !/^\w+$/.test(value))) {
        this.#note('unknown', each, 'it evaluates the subscript of a name');
      }
    }
    if (operator === '=~') this.#assign('BASH_REMATCH', UNKNOWN_VALUE);
  }

  #define(name: string, body: List, span: Span): void {
    this.#state = withFunction(this.#state, name, body);
    this.#uncalled.set(body, span);
  }

  #simple(command: SimpleCommand, input: Call['input']): void {
    let given = input;
    for (const each of command.redirections) {
      this.#redirection(each);
      const isInput = each.kind !== 'file' || each.operator === '<' || each.operator === '<&';
      if (isInput && (each.descriptor ?? 0) === 0) given = 'given';
    }
    const verdict = this.#begin(command);
    const expanded = command.words.flatMap((each) =>
      'name' in each ? [this.#assignmentWord(each)] : expandWord(each, expansionOf(this.#shell)),
    );
    const tokens = this.#placed(expanded);
    const [first] = tokens;
    if (first === undefined) {
      for (const each of command.assignments) this.#set(each);
      const isBare = command.words.length > 0;
      if (isBare) this.#note('unknown', command, 'the name of the program is not known beforehand');
      const isOnlyRedirections = command.assignments.length === 0 && !isBare && verdict.readOnly;
      if (!isOnlyRedirections || verdict.finding.class !== 'read')
        this.#end(command, verdict, [], []);
      this.#verdict = undefined;
      return;
    }
    this.#prefix(command.assignments, first);
    this.#verdict = undefined;
    this.#run(tokens, command, given, AS_WRITTEN, true, verdict);
  }

  /** Assignments before a command: they are in its environment, and of no later one. */
  #prefix(assignments: readonly Assignment[], name: Token): void {
    const isBuiltin = name.value !== undefined && BUILTINS.has(name.value);
    // A builtin or a function sees them as variables of the shell.
    const isSeenInside =
      name.value === undefined || isBuiltin || this.#state.functions.has(name.value);
    for (const each of assignments) {
      const { value } = this.#valueOf(each);
      if (isSeenInside) this.#assign(each.name, UNKNOWN_VALUE);
      if (isHarmlessVariable(each.name, value)) continue;
      if (isBuiltin && each.name === 'IFS' && name.value === 'read') continue;
      if (isBuiltin && !isPowerfulVariable(each.name)) continue;
      this.#note('unknown', each, `${each.name} may change what the program does`);
      if (this.#verdict !== undefined) this.#verdict.faithful = false;
    }
  }

  /** Assignments that stand alone. */
  #set(assignment: Assignment): void {
    const { name } = assignment;
    const value = this.#valueOf(assignment);
    this.#assign(name, value);
    const isExported = this.#surroundings.variable?.(name) !== undefined;
    const matters = isExported ? !isHarmlessVariable(name, value.value) : isPowerfulVariable(name);
    if (matters) this.#note('unknown', assignment, `${name} may change what programs do`);
  }

  #valueOf(assignment: Assignment): Value {
    const { value, index, append, name } = assignment;
    if (index !== undefined) judgeNumber(index, this.#shell);
    if (!('pieces' in value)) {
      for (const each of value) this.#element(each);
      return ARRAY_VALUE;
    }
    const found = evaluateWord(value, this.#shell);
    if (index !== undefined) return ARRAY_VALUE;
    if (!append) return found;
    const before = this.#state.variables.get(name)?.value;
    return before === undefined || found.value === undefined
      ? UNKNOWN_VALUE
      : { value: before + found.value };
  }

  /** An element of an array, which may say its own index. */
  #element(word: Word): void {
    const [first] = word.pieces;
    evaluateWord(word, this.#shell);
    if (first?.kind !== 'text' || first.quoted || !first.value.startsWith('[')) return;
    const index = /^\[(\w+)\]\+?=/.exec(first.value)?.[1];
    if (index === undefined) this.#note('unknown', word, 'it evaluates the index of an element');
    else judgeExpressionText(index, word, this.#shell);
  }

  /** `name=value` among the words of `declare` and its kind. */
  #assignmentWord(assignment: Assignment): Token {
    const { name, index, append, value } = assignment;
    const found = this.#valueOf(assignment);
    const start = index === undefined ? `${name}${append ? '+' : ''}=` : `${name}[`;
    const token = unknownToken(assignment, this.#origin.source, false);
    const isKnown = found.value !== undefined && index === undefined && 'pieces' in value;
    if (!('pieces' in value)) this.#assign(name, ARRAY_VALUE);
    const whole = isKnown ? start + found.value : undefined;
    return { ...token, ...this.#span(assignment), value: whole, prefix: whole ?? start };
  }

  #expanded(words: readonly Word[], span: Span): readonly Token[] {
    let tokens: readonly Token[] = [];
    this.#judged(span, [], () => {
      tokens = words.flatMap((each) => expandWord(each, expansionOf(this.#shell)));
    });
    return tokens;
  }

  #redirection(redirection: Redirection): void {
    const verdict = this.#begin(redirection);
    if (typeof redirection.descriptor === 'object') {
      this.#assign(redirection.descriptor.variable, INTEGER_VALUE);
    }
    if (redirection.kind === 'file') this.#file(redirection);
    else evaluateWord(redirection.body, this.#shell);
    this.#verdict = undefined;
    const isFile = redirection.kind === 'file' && !isDuplicate(redirection);
    if (!isFile && verdict.finding.class === 'read') return;
    this.#push({
      kind: 'redirection',
      ...this.#span(redirection),
      tokens: [],
      canonical: [],
      ...settled(verdict),
    });
  }

  #file(redirection: Redirection & { kind: 'file' }): void {
    const { operator, target, descriptor } = redirection;
    const tokens = expandWord(target, expansionOf(this.#shell));
    const [token] = tokens;
    if (token === undefined || tokens.length > 1) {
      this.#note('unknown', target, 'where it leads is not known beforehand');
      return;
    }
    const duplicates = operator === '>&' || operator === '<&';
    if (duplicates && token.value !== undefined && /^(?:[0-9]+-?|-)$/.test(token.value)) return;
    const writesBoth = operator === '>&' && (descriptor === undefined || descriptor === 1);
    if (duplicates && !(writesBoth && token.value !== undefined)) {
      this.#note('unknown', target, 'where it leads is not known beforehand');
      return;
    }
    const kind = operator === '<' ? 'read' : 'write';
    const path = token.value ?? token.prefix;
    this.#found(this.#places.judge({ kind, path, token }, this.#state.cwds), target);
  }

  #begin(span: Span): Verdict {
    const verdict: Verdict = {
      finding: { class: 'read', reason: 'it only reads', at: this.#span(span) },
      readOnly: true,
      faithful: true,
    };
    this.#verdict = verdict;
    return verdict;
  }

  #end(span: Span, verdict: Verdict, tokens: readonly Token[], canonical: readonly Token[]): void {
    this.#push({ kind: 'command', ...this.#span(span), tokens, canonical, ...settled(verdict) });
  }

  #push(part: Part): void {
    this.parts.push(part);
  }

  /** A part for something that is no command of its own, when there is anything to say of it. */
  #judged(span: Span, tokens: readonly Token[], work: () => void): void {
    const verdict = this.#begin(span);
    work();
    this.#verdict = undefined;
    if (verdict.finding.class !== 'read') this.#end(span, verdict, tokens, tokens);
  }

  #alone(span: Span, name: Finding['class'], reason: string): void {
    const verdict = this.#begin(span);
    this.#found({ class: name, reason }, span);
    this.#verdict = undefined;
    this.#end(span, verdict, [], []);
  }

  #found(finding: Finding, span: Span): void {
    const verdict = this.#verdict;
    if (verdict === undefined) return;
    verdict.readOnly &&= isReading(finding.class);
    verdict.finding = worse(verdict.finding, { ...finding, at: this.#span(span) });
  }

  #note(kind: 'unknown' | 'secret-like', span: Span, reason: string): void {
    if (this.#verdict === undefined) this.#alone(span, kind, reason);
    else this.#found({ class: kind, reason }, span);
  }

  #assign(name: string, value: Value): void {
    this.#state = withVariable(this.#state, name, value);
  }

  readonly #shell: Shell = ((walk: Walk): Shell => ({
    get source() {
      return walk.#origin.source;
    },
    state: () => walk.#state,
    environment: (name) => {
      if (name === 'HOME' && walk.#surroundings.home !== undefined) return walk.#surroundings.home;
      return walk.#surroundings.variable?.(name);
    },
    assign: (name, value) => walk.#assign(name, value),
    note: (kind, span, reason) => walk.#note(kind, span, reason),
    substitute: (body) => walk.#substitute(body),
    takes: (words) => {
      walk.#words += words;
      return walk.#words <= LIMITS.commandNodes.value;
    },
    become: (state) => {
      walk.#state = state;
    },
  }))(this);

  #substitute(body: List): string | undefined {
    this.#nested(body, () => this.#subshell(() => this.#list(body)));
    return this.#printed(body);
  }

  /** What the commonest substitutions print. */
  #printed(body: List): string | undefined {
    const [step] = body.steps;
    const [command] = step?.pipeline.commands ?? [];
    if (body.steps.length !== 1 || step?.pipeline.commands.length !== 1) return undefined;
    if (command?.kind !== 'simple' || command.redirections.length > 0) return undefined;
    const words = command.words.map((each) =>
      'pieces' in each ? expandValue(each, expansionOf(this.#shell)).value : undefined,
    );
    const isPwd = words.join(' ') === 'pwd' && !this.#state.functions.has('pwd');
    return isPwd && this.#state.cwds?.length === 1 ? this.#state.cwds[0] : undefined;
  }

  /** Judges a command by its words, and gives them back as rules see them. */
  #run(
    tokens: readonly Token[],
    span: Span,
    input: Call['input'],
    lookup: Lookup,
    isOuter: boolean,
    begun?: Verdict,
  ): readonly Token[] {
    const verdict = begun ?? this.#begin(span);
    this.#verdict = verdict;
    const at = this.parts.length;
    const [program, ...args] = tokens;
    if (program === undefined) return [];
    const judgement = this.#judge({ name: '', program, args, input }, lookup);
    if (judgement.faithful === false) verdict.faithful = false;
    const inner = judgement.effects.map((effect) => this.#effect(effect, span, input, judgement));
    const starts = judgement.effects.length === 1 ? inner[0] : undefined;
    this.#verdict = undefined;
    const canonical = judgement.canonical ?? starts ?? tokens;
    const part: Part = {
      kind: 'command',
      ...this.#span(span),
      tokens,
      canonical,
      ...settled(verdict),
    };
    this.parts.splice(isOuter ? at : this.parts.length, 0, part);
    return canonical;
  }

  #judge(call: Call, lookup: Lookup): Judgement & { readonly builtin?: true } {
    const { program } = call;
    const { value } = program;
    if (value === undefined) {
      return isOf('unknown', program, 'the name of the program is not known beforehand');
    }
    if (lookup.functions && this.#state.functions.has(value)) return this.#call(value, call);
    if (lookup.functions && this.#state.hasMoreFunctions) {
      return isOf('unknown', program, 'it may be one of the many functions of the line');
    }
    const builtin = BUILTINS.get(value);
    const isBuiltin = lookup.builtins === 'all' || BUILTINS_THAT_ARE_PROGRAMS.has(value);
    if (builtin !== undefined && isBuiltin) {
      if (LEAVING.has(value)) this.#exits.push(this.#state);
      return { effects: builtin({ ...call, name: value }, this.#shell), builtin: true };
    }
    return this.#program(value, call);
  }

  #call(name: string, call: Call): Judgement {
    const { program } = call;
    const body = this.#state.functions.get(name);
    if (body === undefined) return isOf('unknown', program, 'which function it calls is not known');
    this.#uncalled.delete(body);
    const before = this.#verdict;
    const { positional } = this.#state;
    const arePlain = call.args.every((each) => !each.splits);
    const outside = this.#state;
    this.#state = { ...outside, positional: arePlain ? call.args : undefined };
    this.#nested(program, () => this.#leavable(() => this.#list(body)));
    // Its own variables are gone when it returns, and which of them were its own is not followed.
    const { variables } = merged([outside, this.#state]);
    this.#state = { ...this.#state, variables, positional };
    this.#verdict = before;
    return { effects: [], faithful: false };
  }

  #program(value: string, call: Call): Judgement {
    const { program } = call;
    const slash = value.lastIndexOf('/');
    const name = value.slice(slash + 1);
    if (slash >= 0 && !this.#isSystemProgram(value)) {
      return isOf('unknown', program, 'it is a file, and not a program of the system');
    }
    const known = programOf(name);
    const resolved = slash < 0 ? this.#surroundings.program?.(name) : undefined;
    const isBelieved =
      slash >= 0 || this.#surroundings.program === undefined || resolved?.trusted === true;
    const effects: Effect[] = [];
    if (!isBelieved) {
      const reason =
        resolved === undefined
          ? `no program ${name} is found`
          : `${resolved.path} may be written by what runs here`;
      effects.push({ kind: 'is', class: 'unknown', token: program, reason });
    }
    if (known === undefined) {
      effects.push({
        kind: 'is',
        class: 'unknown',
        token: program,
        reason: `${name} is not known`,
      });
      return { effects };
    }
    const judgement = known({ ...call, name });
    const outside = this.#outside(program);
    return { ...judgement, effects: [...effects, ...judgement.effects, ...outside] };
  }

  #isSystemProgram(path: string): boolean {
    if (!path.startsWith('/') || path.includes('//') || path.includes('/.')) return false;
    return SYSTEM_PROGRAMS.has(posix.dirname(path)) && !this.#places.isInside(path);
  }

  /** A program reads the directory that it runs in. */
  #outside(program: Token): readonly Effect[] {
    const { cwds } = this.#state;
    if (cwds?.length === 1 && cwds[0] === posix.normalize(this.#surroundings.cwd)) return [];
    return [{ kind: 'read', path: '.', token: program }];
  }

  /** Adds what an effect means; of a command that is started, its words. */
  #effect(
    effect: Effect,
    span: Span,
    input: Call['input'],
    judgement: { readonly builtin?: true },
  ): readonly Token[] | undefined {
    switch (effect.kind) {
      case 'read':
      case 'write':
        this.#found(this.#places.judge(effect, this.#state.cwds), effect.token);
        return undefined;
      case 'is':
        this.#found({ class: effect.class, reason: effect.reason }, effect.token);
        return undefined;
      case 'run':
        return this.#start(effect, span, input, judgement.builtin === true);
      case 'shell':
        this.#text(effect, judgement.builtin === true);
        return undefined;
    }
  }

  #start(
    effect: Effect & { kind: 'run' },
    span: Span,
    input: Call['input'],
    isBuiltin: boolean,
  ): readonly Token[] | undefined {
    const more = effect.more
      ? [{ ...unknownToken(span, this.#origin.source, true), text: '' }]
      : [];
    const before = this.#state;
    let canonical: readonly Token[] | undefined;
    const at = this.parts.length;
    const outer = this.#verdict;
    this.#nested(span, () => {
      if (effect.cwd !== undefined) this.#state = moved(this.#state, effect.cwd);
      const lookup = isBuiltin ? WITHOUT_FUNCTIONS : AS_PROGRAM;
      canonical = this.#run([...effect.tokens, ...more], span, input, lookup, true);
    });
    if (!isBuiltin || effect.cwd !== undefined) this.#state = before;
    this.#verdict = outer;
    this.#absorb(at);
    return effect.more ? undefined : canonical;
  }

  #text(effect: Effect & { kind: 'shell' }, isBuiltin: boolean): void {
    const parsed = parse(effect.text);
    const { token } = effect;
    if (parsed.kind === 'unparsed') {
      if (parsed.unparsed.kind === 'empty') return;
      this.#found(
        { class: 'unknown', reason: 'the text that it gives a shell cannot be read' },
        token,
      );
      return;
    }
    if (effect.posix && parsed.bashOnly !== undefined) {
      this.#found({ class: 'unknown', reason: 'not every shell reads its text that way' }, token);
    }
    const before = this.#state;
    const origin = this.#origin;
    const outer = this.#verdict;
    const at = this.parts.length;
    this.#nested(token, () => {
      this.#state = isBuiltin ? this.#anything() : freshState(before.cwds);
      this.#origin = { source: effect.text, span: this.#span(token) };
      this.#list(parsed.body);
    });
    this.#origin = origin;
    this.#state = isBuiltin ? this.#anything() : before;
    this.#verdict = outer;
    this.#absorb(at);
  }

  /** What a command starts counts for the command too. */
  #absorb(from: number): void {
    for (const part of this.parts.slice(from)) {
      this.#found({ class: part.class, reason: part.reason }, part.at);
      if (this.#verdict !== undefined) this.#verdict.readOnly &&= part.readOnly;
      if (this.#verdict !== undefined) this.#verdict.faithful &&= part.faithful;
    }
  }
}

function settled(
  verdict: Verdict,
): Pick<Part, 'class' | 'at' | 'reason' | 'readOnly' | 'faithful'> {
  const { finding, readOnly, faithful } = verdict;
  return { class: finding.class, at: finding.at, reason: finding.reason, readOnly, faithful };
}

function isOf(name: Finding['class'], token: Token, reason: string): Judgement {
  return { effects: [{ kind: 'is', class: name, token, reason }] };
}

function isDuplicate({ operator, target }: Redirection & { kind: 'file' }): boolean {
  if (operator !== '>&' && operator !== '<&') return false;
  return target.pieces.every((each) => each.kind === 'text' && /^[0-9]*-?$/.test(each.value));
}

/** What the variable of a loop holds in the round of a word. */
function roundValue(token: Token): Value | undefined {
  if (token.value !== undefined) return { value: token.value };
  return token.pattern === undefined ? undefined : { value: undefined, pattern: token.pattern };
}

function moved(state: State, cwd: string): State {
  if (cwd.startsWith('/')) return { ...state, cwds: [posix.normalize(cwd)] };
  return { ...state, cwds: state.cwds?.map((each) => posix.join(each, cwd)) };
}
