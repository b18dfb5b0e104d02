#include "film/av/fail.h"
#include "film/av/module.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <stdlib.h>

/* Qualities at which boxes and letters look as they were drawn: of H.264, and of MPEG-4, which
 * stands in for it where there is no encoder. */
static const char quality_h264[] = "18";
enum { QUALITY_MPEG4 = 2 };

struct ddp_film_writer {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVStream *stream;
    AVPacket *packet;
    AVFrame *frame;
    struct SwsContext *scale;
    int row; /* bytes of a row of pixels that are given */
};

static void release(ddp_film_writer *film)
{
    sws_freeContext(film->scale);
    av_frame_free(&film->frame);
    av_packet_free(&film->packet);
    avcodec_free_context(&film->codec);
    if (film->format)
        (void)avio_closep(&film->format->pb);
    avformat_free_context(film->format);
    free(film);
}

static int open_encoder(ddp_film_writer *film, const ddp_film_info *info)
{
    const AVCodec *encoder = avcodec_find_encoder(AV_CODEC_ID_H264);
    AVCodecContext *c;

    if (!encoder)
        encoder = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
    film->codec = c = encoder ? avcodec_alloc_context3(encoder) : NULL;
    if (!c)
        return AVERROR_ENCODER_NOT_FOUND;
    c->width = info->width & ~1;
    c->height = info->height & ~1;
    c->pix_fmt = AV_PIX_FMT_YUV420P;
    c->time_base = (AVRational){info->rate_divisor, info->rate};
    c->framerate = (AVRational){info->rate, info->rate_divisor};
    if (film->format->oformat->flags & AVFMT_GLOBALHEADER)
        c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    c->flags |= AV_CODEC_FLAG_QSCALE;
    c->global_quality = QUALITY_MPEG4 * FF_QP2LAMBDA;
    (void)av_opt_set(c->priv_data, "crf", quality_h264, 0); /* encoders without it have their own */
    return avcodec_open2(c, encoder, NULL);
}

static int open_file(ddp_film_writer *film, const char *path)
{
    int st = avcodec_parameters_from_context(film->stream->codecpar, film->codec);

    film->stream->time_base = film->codec->time_base;
    if (st >= 0)
        st = avio_open(&film->format->pb, path, AVIO_FLAG_WRITE);
    return st < 0 ? st : avformat_write_header(film->format, NULL);
}

static int make_frame(ddp_film_writer *film)
{
    film->packet = av_packet_alloc();
    film->frame = av_frame_alloc();
    if (!film->packet || !film->frame)
        return AVERROR(ENOMEM);
    film->frame->format = film->codec->pix_fmt;
    film->frame->width = film->codec->width;
    film->frame->height = film->codec->height;
    film->frame->pts = 0;
    film->scale = sws_getContext(film->codec->width, film->codec->height, AV_PIX_FMT_RGB24,
                                 film->codec->width, film->codec->height, film->codec->pix_fmt,
                                 SWS_BILINEAR, NULL, NULL, NULL);
    return film->scale ? av_frame_get_buffer(film->frame, 0) : AVERROR(ENOMEM);
}

ddp_status ddp_film_create(ddp_film_writer **out, const char *path, const ddp_film_info *info,
                           ddp_error *err)
{
    ddp_film_writer *film = calloc(1, sizeof *film);
    int st;

    *out = NULL;
    if (!film)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the film %s", path);
    av_log_set_level(AV_LOG_FATAL);
    film->row = 3 * info->width;
    st = avformat_alloc_output_context2(&film->format, NULL, NULL, path);
    film->stream = st < 0 ? NULL : avformat_new_stream(film->format, NULL);
    if (st >= 0)
        st = film->stream ? open_encoder(film, info) : AVERROR(ENOMEM);
    if (st >= 0)
        st = open_file(film, path);
    if (st >= 0)
        st = make_frame(film);
    if (st < 0) {
        release(film);
        return ddp_film_fail(err, "cannot write the film", path, st);
    }
    *out = film;
    return DDP_OK;
}

/* Encode a frame, or what is left if it is NULL, and write what has come of it. */
static int encode(ddp_film_writer *film, const AVFrame *frame)
{
    int st = avcodec_send_frame(film->codec, frame);

    while (st >= 0 && (st = avcodec_receive_packet(film->codec, film->packet)) >= 0) {
        film->packet->duration = 1;
        av_packet_rescale_ts(film->packet, film->codec->time_base, film->stream->time_base);
        st = av_interleaved_write_frame(film->format, film->packet);
    }
    return st == AVERROR(EAGAIN) || st == AVERROR_EOF ? 0 : st;
}

ddp_status ddp_film_write(ddp_film_writer *film, const unsigned char *rgb, ddp_error *err)
{
    const unsigned char *planes[4] = {rgb};
    const int strides[4] = {film->row};
    int st = av_frame_make_writable(film->frame);

    if (st >= 0) {
        (void)sws_scale(film->scale, planes, strides, 0, film->codec->height, film->frame->data,
                        film->frame->linesize);
        st = encode(film, film->frame);
        film->frame->pts++;
    }
    return st < 0 ? ddp_film_fail(err, "cannot write the film", film->format->url, st) : DDP_OK;
}

ddp_status ddp_film_finish(ddp_film_writer *film, ddp_error *err)
{
    int st = encode(film, NULL);
    ddp_status result = DDP_OK;

    if (st >= 0)
        st = av_write_trailer(film->format);
    if (st < 0)
        result = ddp_film_fail(err, "cannot write the film", film->format->url, st);
    release(film);
    return result;
}
