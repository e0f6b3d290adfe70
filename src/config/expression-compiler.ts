import { ExpressionError } from '../expressions/expression-error.ts'
import { literalOf, templateOf, type CompileText, type Expression } from '../expressions/expression.ts'
import type { KnownVariables, VariableName } from '../expressions/scope.ts'
import { typeNameOf, UNKNOWN, type KnownValue, type StaticType } from '../expressions/static-type.ts'
import type { ScalarNode } from './config-node.ts'
import { placeOf, type ExpressionSpec, type ModuleReference } from './expression-spec.ts'
import type { LoadedModules } from './modules.ts'
import type { ProblemList } from './problems.ts'
import type { Place } from './source-file.ts'

/** A function whose types nobody knows. */
export type AnyFunction = (...args: readonly unknown[]) => unknown

/** What an `ExpressionCompiler` works with. */
export interface CompilerParts {
  readonly modules: LoadedModules
  readonly problems: ProblemList
  /** Compiles a text. */
  readonly compileText: CompileText
}

/** Turns what stands in expression positions into functions, noting what is wrong at its place. */
export class ExpressionCompiler {
  readonly #parts: CompilerParts
  readonly #known: KnownVariables
  readonly #results: WeakMap<ExpressionSpec, KnownValue>

  constructor(
    parts: CompilerParts,
    known: KnownVariables = new Map(),
    results = new WeakMap<ExpressionSpec, KnownValue>(),
  ) {
    this.#parts = parts
    this.#known = known
    this.#results = results
  }

  /** The same for a place where more is known of the variables. */
  knowing(known: KnownVariables): ExpressionCompiler {
    return new ExpressionCompiler(this.#parts, known, this.#results)
  }

  /** What is known of the results of an expression that has been compiled. */
  resultOf(spec: ExpressionSpec): KnownValue {
    return this.#results.get(spec) ?? UNKNOWN
  }

  /** The function of a position: a module's own, or one made of the compiled expression. */
  functionOf<F>(
    spec: ExpressionSpec | undefined,
    variables: ReadonlySet<VariableName>,
    make: (expression: Expression) => F,
  ): F | AnyFunction | undefined {
    if (spec === undefined) return undefined
    if (spec.kind === 'module') return this.#moduleFunction(spec.reference)
    const expression = this.compile(spec, variables)
    return expression === undefined ? undefined : make(expression)
  }

  /** Compiles everything but a module. */
  compile(spec: ExpressionSpec, variables: ReadonlySet<VariableName>): Expression | undefined {
    const expression = this.#compile(spec, variables)
    if (expression !== undefined) this.#results.set(spec, expression)
    return expression
  }

  #compile(spec: ExpressionSpec, variables: ReadonlySet<VariableName>): Expression | undefined {
    switch (spec.kind) {
      case 'expression':
        return this.#compileText(spec.source, spec.node, variables)
      case 'literal':
        return literalOf(spec.value)
      case 'list': {
        const items = spec.items.map(item => this.compile(item, variables))
        const compiled = items.filter(item => item !== undefined)
        return compiled.length === items.length ? templateOf(compiled) : undefined
      }
      case 'template': {
        const members = Array.from(spec.members, ([name, member]) => [name, this.compile(member, variables)] as const)
        const compiled = members.filter((member): member is readonly [string, Expression] => member[1] !== undefined)
        return compiled.length === members.length ? templateOf(Object.fromEntries(compiled)) : undefined
      }
      case 'module':
        return undefined
    }
  }

  /** Notes a position whose results can never be of the type it needs. */
  expectType(expression: Expression, spec: ExpressionSpec, what: string, ...types: readonly StaticType[]): void {
    const given = spec.kind === 'literal' ? typeNameOf(spec.value) : expression.type
    if (given === 'dyn' || types.some(type => type === given)) return
    this.#parts.problems.add(
      placeOf(spec),
      `${what}, but this expression gives ${given}`,
      undefined,
      'EXPRESSION_INVALID',
    )
  }

  /** The exported value of a module. */
  exportOf(reference: ModuleReference): unknown {
    return this.#parts.modules.get(reference)
  }

  #compileText(source: string, node: ScalarNode, variables: ReadonlySet<VariableName>): Expression | undefined {
    try {
      return this.#parts.compileText(source, variables, this.#known)
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      this.#parts.problems.add(placeInside(node, error.span), error.message, error.hint, 'EXPRESSION_INVALID')
      return undefined
    }
  }

  #moduleFunction(reference: ModuleReference): AnyFunction | undefined {
    const value = this.#parts.modules.get(reference)
    if (value === undefined) return undefined
    if (typeof value === 'function') {
      return (...args) => {
        const result: unknown = Reflect.apply(value, undefined, args)
        return result
      }
    }
    this.#parts.problems.add(
      reference.place,
      `${reference.path}#${reference.exportName} is no function`,
      undefined,
      'MODULE_NOT_LOADED',
    )
    return undefined
  }
}

/** A place inside an expression; the whole scalar where its text does not stand in the file character by character. */
function placeInside(
  { place, verbatimStart }: ScalarNode,
  span: { readonly start: number; readonly end: number },
): Place {
  if (verbatimStart === undefined) return place
  return {
    file: place.file,
    start: verbatimStart + span.start,
    end: verbatimStart + Math.max(span.end, span.start + 1),
  }
}
