// The shell parser, and the only file that knows which one it is. It is tolerant: whoever needs to
// know that nothing was missed looks at `errors` of every script, and at more than the tree.

export {
  type Assignment,
  type Case,
  type Command,
  type CommandExpansionPart,
  type CommandNode,
  type CompoundList,
  type Function as FunctionNode,
  forEachChild,
  type ParameterExpansionPart,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type TestExpression,
  type Word,
  type WordPart,
} from 'unbash';
