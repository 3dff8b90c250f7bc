/** A text that is taken whole: a string, a name, a body between dollars, a comment. */
const wholes =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[a-z_][a-z0-9_]*)?\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|;|[^'"$/;-]+|[\s\S]/giu

/** The statements of a file, in order, without comments around them. */
export function splitSql(sql: string): string[] {
  const statements = ['']
  for (const [part] of sql.matchAll(wholes)) {
    if (part === ';') statements.push('')
    else if (!part.startsWith('--') && !part.startsWith('/*')) statements[statements.length - 1] += part
  }
  return statements.map((each) => each.trim()).filter((each) => each !== '')
}
