package elizainference

/**
 * A greedy answer as a sequence, over the Java class and its native half in ../java. Leaving the sequence early closes
 * nothing: use `streaming`.
 */
inline fun <T> streaming(model: String, prompt: String, maxTokens: Int, use: (Sequence<String>) -> T): T =
    TextStream(model, prompt, maxTokens).use { stream -> use(stream.asSequence()) }

fun main(arguments: Array<String>) {
    System.load(arguments[0])
    streaming(arguments[1], arguments[2], arguments[3].toInt()) { pieces -> pieces.forEach(::print) }
}
