/** A function that makes its result once per key. Objects are held weakly; other keys for as long as the function is. */
export function memo<K, V>(make: (key: K) => V): (key: K) => V {
  const ofObjects = new WeakMap<object, { made: V }>()
  const ofOthers = new Map<K, { made: V }>()
  return (key) => {
    const isObject = typeof key === 'object' && key !== null
    const known = isObject ? ofObjects.get(key) : ofOthers.get(key)
    if (known) return known.made
    const kept = { made: make(key) }
    if (isObject) ofObjects.set(key, kept)
    else ofOthers.set(key, kept)
    return kept.made
  }
}
