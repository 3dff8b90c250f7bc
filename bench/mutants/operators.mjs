// The operators of drawn mutants: each lists, for one syntax node, the texts that a change of one place puts there.

import ts from 'typescript'

const { SyntaxKind: Kind } = ts

const boundaries = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const comparisons = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '===': '!==', '!==': '===' }
const logic = { '&&': '||', '||': '&&' }
const arithmetic = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '<<': '>>', '>>': '<<', '&': '|', '|': '&' }
const assignments = { '+=': '-=', '-=': '+=', '*=': '/=', '??=': '=' }
const methods = {
  some: 'every',
  every: 'some',
  find: 'findLast',
  findLast: 'find',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  floor: 'ceil',
  ceil: 'floor',
  push: 'unshift',
  toLowerCase: 'toUpperCase',
}
/** Calls that may be left out, so that what they were called on stands alone. */
const chained = new Set(['filter', 'sort', 'toSorted', 'slice', 'reverse', 'toReversed', 'trim', 'toLowerCase', 'flat'])
const inSql = [
  [/ >= /g, ' > '],
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ = /g, ' <> '],
  [/ desc\b/g, ''],
  [/ and /g, ' or '],
  [/\bleast\(/g, 'greatest('],
  [/\bgreatest\(/g, 'least('],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/ is null\b/g, ' is not null'],
  [/ is not null\b/g, ' is null'],
  [/\bdistinct /g, ''],
  [/ for update\b/g, ''],
]
const swapOperator = (table) => (node) => {
  if (!ts.isBinaryExpression(node)) return []
  const other = table[node.operatorToken.getText()]
  return other === undefined ? [] : [{ node: node.operatorToken, to: other }]
}

const isLeaving = (statement) =>
  ts.isReturnStatement(statement) ||
  ts.isThrowStatement(statement) ||
  ts.isContinueStatement(statement) ||
  ts.isBreakStatement(statement) ||
  (ts.isBlock(statement) && statement.statements.length > 0 && isLeaving(statement.statements.at(-1)))

/** Whether a literal names a type, a module or a member, and is no value. */
const isName = ({ parent }) =>
  ts.isLiteralTypeNode(parent) ||
  ts.isImportDeclaration(parent) ||
  ts.isExportDeclaration(parent) ||
  ts.isElementAccessExpression(parent) ||
  (ts.isPropertyAssignment(parent) && ts.isStringLiteral(parent.name) && parent.name.text === parent.initializer.text)

const isTemplatePart = (node) =>
  ts.isNoSubstitutionTemplateLiteral(node) ||
  ts.isTemplateHead(node) ||
  ts.isTemplateMiddle(node) ||
  ts.isTemplateTail(node)

/** The whole template of which a node is a part. */
function templateOf(node) {
  if (ts.isNoSubstitutionTemplateLiteral(node)) return node
  return ts.isTemplateSpan(node.parent) ? node.parent.parent : node.parent
}

const isSql = (template) =>
  ts.isTaggedTemplateExpression(template.parent) ||
  /\b(select|insert into|update \w+ set|delete from)\b/.test(template.getText())

/** Name of an operator → the changes it makes at a node: { node, to }, or { start, end, to } for a part of one. */
export const operators = {
  boundary: swapOperator(boundaries),
  comparison: swapOperator(comparisons),
  logic: swapOperator(logic),
  arithmetic: swapOperator(arithmetic),
  assignment: swapOperator(assignments),
  coalesce: (node) =>
    ts.isBinaryExpression(node) && node.operatorToken.kind === Kind.QuestionQuestionToken
      ? [{ node, to: node.left.getText() }]
      : [],
  not: (node) =>
    ts.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken
      ? [{ node, to: node.operand.getText() }]
      : [],
  boolean: (node) => {
    if (ts.isLiteralTypeNode(node.parent)) return []
    if (node.kind === Kind.TrueKeyword) return [{ node, to: 'false' }]
    return node.kind === Kind.FalseKeyword ? [{ node, to: 'true' }] : []
  },
  number: (node) => {
    if (ts.isLiteralTypeNode(node.parent)) return []
    if (ts.isNumericLiteral(node) && /^[0-9_]+$/.test(node.getText()))
      return [{ node, to: String(Number(node.getText().replaceAll('_', '')) + 1) }]
    if (ts.isBigIntLiteral(node) && /^[0-9_]+n$/.test(node.getText()))
      return [{ node, to: `${BigInt(node.getText().replaceAll('_', '').slice(0, -1)) + 1n}n` }]
    return []
  },
  // Words that mean something to a program; prose is no guarantee.
  string: (node) =>
    ts.isStringLiteral(node) && /^[A-Za-z0-9_.-]{2,}$/.test(node.text) && !isName(node)
      ? [{ node, to: "'other'" }]
      : [],
  condition: (node) => {
    if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
      const condition = ts.isIfStatement(node) ? node.expression : node.condition
      return ['true', 'false'].map((to) => ({ node: condition, to }))
    }
    return []
  },
  guard: (node) =>
    ts.isIfStatement(node) && !node.elseStatement && isLeaving(node.thenStatement) ? [{ node, to: '' }] : [],
  statement: (node) => (ts.isExpressionStatement(node) && ts.isBlock(node.parent) ? [{ node, to: '' }] : []),
  method: (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
    const { text } = node.expression.name
    return Object.hasOwn(methods, text) ? [{ node: node.expression.name, to: methods[text] }] : []
  },
  chain: (node) =>
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    chained.has(node.expression.name.text)
      ? [{ node, to: node.expression.expression.getText() }]
      : [],
  optional: (node) =>
    (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) && node.questionDotToken
      ? [{ node: node.questionDotToken, to: ts.isCallExpression(node) ? '' : '.' }]
      : [],
  list: (node) => (ts.isArrayLiteralExpression(node) && node.elements.length > 0 ? [{ node, to: '[]' }] : []),
  spread: (node) => (ts.isSpreadAssignment(node) && node.parent.properties.length > 1 ? [{ node, to: '...{}' }] : []),
  regex: (node) => {
    if (node.kind !== Kind.RegularExpressionLiteral) return []
    const text = node.getText()
    const changed = [text.replace(/^\/\^/, '/'), text.replace(/\$\/([a-z]*)$/, '/$1')]
    return changed.filter((to) => to !== text && to !== '//').map((to) => ({ node, to }))
  },
  sql: (node) => {
    if (!isTemplatePart(node) || !isSql(templateOf(node))) return []
    return inSql.flatMap(([pattern, to]) =>
      [...node.getText().matchAll(pattern)].map(({ index, 0: found }) => {
        const start = node.getStart() + index
        return { start, end: start + found.length, to }
      }),
    )
  },
}
