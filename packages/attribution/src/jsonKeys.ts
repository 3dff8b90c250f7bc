/** How many names the outermost object of valid JSON text has, repeated ones counted each time. */
export function countTopLevelKeys(json: string): number {
  let count = 0
  let depth = 0
  let inText = false
  for (let i = 0; i < json.length; i++) {
    const character = json[i]
    if (inText) {
      if (character === '\\') i += 1
      else if (character === '"') inText = false
    } else if (character === '"') inText = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else if (character === ':' && depth === 1) count += 1
  }
  return count
}
