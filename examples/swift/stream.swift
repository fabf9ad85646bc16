// Streams a greedy answer: stream MODEL PROMPT TOKENS
// swiftc stream.swift -I ../../native/include -L FOLDER_OF_THE_LIBRARY
import ElizaInference

struct InferenceFailure: Error {
    /// "CODE: what was wrong", a line break, what to do.
    let text: String

    init(taking error: UnsafeMutablePointer<CChar>?) {
        text = error.map { String(cString: $0) } ?? "NATIVE_FAULT: no reason"
        eliza_inference_free_string(error)
    }
}

func generate(model: String, prompt: String, tokens: Int32, take: (String) -> Void) throws {
    var error: UnsafeMutablePointer<CChar>?
    guard let context = eliza_inference_create(model, &error) else { throw InferenceFailure(taking: error) }
    defer { eliza_inference_destroy(context) }
    var config = eliza_llm_stream_config_t()
    config.max_tokens = tokens
    config.context_size = 512
    guard let stream = eliza_inference_llm_stream_open(context, &config, &error) else {
        throw InferenceFailure(taking: error)
    }
    defer { eliza_inference_llm_stream_close(stream) }

    var ids: UnsafeMutablePointer<Int32>?
    var count = 0
    guard eliza_inference_llm_stream_tokenize(stream, prompt, prompt.utf8.count, 1, 0, &ids, &count, &error) >= 0
    else { throw InferenceFailure(taking: error) }
    let handed = eliza_inference_llm_stream_prefill(stream, ids, count, &error)
    eliza_inference_free_tokens(ids)
    guard handed >= 0 else { throw InferenceFailure(taking: error) }

    var taken = [Int32](repeating: 0, count: 64)
    var text = [CChar](repeating: 0, count: 4096)
    var status: Int32 = 0
    while status == 0 {
        status = eliza_inference_llm_stream_next(
            stream, &taken, taken.count, &count, &text, text.count, nil, nil, &error)
        guard status >= 0 else { throw InferenceFailure(taking: error) }
        take(String(cString: text))
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let tokens = Int32(arguments[3]) else {
    fatalError("usage: stream MODEL PROMPT TOKENS")
}
do {
    try generate(model: arguments[1], prompt: arguments[2], tokens: tokens) { print($0, terminator: "") }
} catch let failure as InferenceFailure {
    print(failure.text)
}
