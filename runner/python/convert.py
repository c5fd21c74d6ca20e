"""Converts an ONNX file to another precision with a tool of this interpreter, and writes the result to another file.

The arguments are the module of the tool, the precision, the input file and the output file. The tool works on a copy in the
directory of the run, because quantisation leaves files next to its input. The last line of standard error is the error.
"""
import importlib
import os
import shutil
import sys
import tempfile

FLOAT16 = {"onnxruntime": "onnxruntime.transformers.float16", "onnxconverter_common": "onnxconverter_common.float16"}


def to_fp16(tool, source, target):
    """Converts weights, inputs and outputs, so that the whole point has that precision."""
    import onnx

    convert = importlib.import_module(FLOAT16[tool]).convert_float_to_float16
    onnx.save(convert(onnx.load(source), keep_io_types=False), target)


def to_int8(tool, source, target):
    """Dynamic quantisation: int8 weights, activations quantised as they come. It needs no data to calibrate with."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, target, weight_type=QuantType.QInt8)


def main(tool, precision, source, target):
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    directory = tempfile.mkdtemp(dir=os.environ.get("NEUROLENS_RUN_DIR"))
    try:
        copy = os.path.join(directory, "model.onnx")
        shutil.copyfile(source, copy)
        {"fp16": to_fp16, "int8": to_int8}[precision](tool, copy, target)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:
        sys.exit("%s: %.500s" % (type(error).__name__, " ".join(str(error).split())))
