"""Streams a greedy answer: stream.py LIBRARY MODEL PROMPT TOKENS"""

import sys
from ctypes import CDLL, POINTER, Structure, byref, c_char_p, c_float, c_int, c_int32, c_size_t, c_void_p, cast
from ctypes import create_string_buffer


class Config(Structure):
    """eliza_llm_stream_config_t; a zeroed one is valid."""

    _fields_ = [
        ("max_tokens", c_int32),
        ("temperature", c_float),
        ("top_p", c_float),
        ("top_k", c_int32),
        ("repeat_penalty", c_float),
        ("slot_id", c_int32),
        ("prompt_cache_key", c_char_p),
        ("draft_min", c_int32),
        ("draft_max", c_int32),
        ("mtp_drafter_path", c_char_p),
        ("gbnf_grammar", c_char_p),
        ("disable_thinking", c_int32),
        ("n_gpu_layers", c_int32),
        ("cache_type_k", c_char_p),
        ("cache_type_v", c_char_p),
        ("context_size", c_int32),
    ]


IDS = POINTER(c_int32)
ERROR = POINTER(c_void_p)


def load(path):
    library = CDLL(path)
    signatures = {
        "create": (c_void_p, [c_char_p, ERROR]),
        "destroy": (None, [c_void_p]),
        "free_string": (None, [c_void_p]),
        "free_tokens": (None, [IDS]),
        "llm_stream_open": (c_void_p, [c_void_p, POINTER(Config), ERROR]),
        "llm_stream_close": (None, [c_void_p]),
        "llm_stream_prefill": (c_int, [c_void_p, IDS, c_size_t, ERROR]),
        "llm_stream_tokenize": (
            c_int,
            [c_void_p, c_char_p, c_size_t, c_int, c_int, POINTER(IDS), POINTER(c_size_t), ERROR],
        ),
        "llm_stream_next": (
            c_int,
            [c_void_p, IDS, c_size_t, POINTER(c_size_t), c_char_p, c_size_t, IDS, IDS, ERROR],
        ),
    }
    for name, (result, parameters) in signatures.items():
        function = getattr(library, "eliza_inference_" + name)
        function.restype, function.argtypes = result, parameters
    return library


class InferenceError(Exception):
    """Its text is "CODE: what was wrong", a line break, what to do."""


def checked(library, value, failed, error):
    if not failed:
        return value
    text = cast(error, c_char_p).value or b"NATIVE_FAULT: no reason"
    library.eliza_inference_free_string(error)
    raise InferenceError(text.decode())


def stream(library, model, prompt, tokens):
    """Yields the answer's text as it comes."""
    error = c_void_p()
    context = library.eliza_inference_create(model.encode(), byref(error))
    checked(library, None, not context, error)
    config = Config(max_tokens=tokens, context_size=512)
    opened = library.eliza_inference_llm_stream_open(context, byref(config), byref(error))
    try:
        checked(library, None, not opened, error)
        ids, count, text = IDS(), c_size_t(), prompt.encode()
        status = library.eliza_inference_llm_stream_tokenize(
            opened, text, len(text), 1, 0, byref(ids), byref(count), byref(error)
        )
        checked(library, None, status < 0, error)
        status = library.eliza_inference_llm_stream_prefill(opened, ids, count, byref(error))
        library.eliza_inference_free_tokens(ids)
        checked(library, None, status < 0, error)
        buffer, taken = create_string_buffer(4096), (c_int32 * 64)()
        status = 0
        while status == 0:
            status = library.eliza_inference_llm_stream_next(
                opened, taken, 64, byref(count), buffer, len(buffer), None, None, byref(error)
            )
            checked(library, None, status < 0, error)
            yield buffer.value.decode()
    finally:
        library.eliza_inference_llm_stream_close(opened)
        library.eliza_inference_destroy(context)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: stream.py LIBRARY MODEL PROMPT TOKENS")
    for piece in stream(load(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])):
        print(piece, end="", flush=True)
